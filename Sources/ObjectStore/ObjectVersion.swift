/// The version of an object, which every write changes: an entity tag, or a generation.
package struct ObjectVersion: Sendable, Hashable {
  /// The version as the store writes it.
  package let text: String

  package init(_ text: String) { self.text = text }
}

/// What must be true of a key for a write to happen.
package enum PutCondition: Sendable, Hashable {
  /// There is no object.
  case absent
  /// There is an object, in this version.
  case matching(ObjectVersion)
}

/// The facts about an object.
package struct ObjectEntry: Sendable, Hashable {
  package var key: String
  /// The size in bytes.
  package var size: Int64
  package var version: ObjectVersion
  /// When it was written, in milliseconds since 1970 by the store's clock.
  package var modified: Int64
  /// The SHA-256 of the content, in hexadecimal; nil if the store does not know it, as in lists.
  package var sha256: String?
}

/// A name of a directory that is not an object.
package struct ForeignEntry: Sendable, Hashable {
  /// Its key, as an object without content.
  package let object: ObjectEntry
  /// Its type, with an article; nil if the name is not UTF-8.
  package let kind: String?

  init(_ key: String, _ kind: String?) {
    object = ObjectEntry(key: key, size: 0, version: ObjectVersion(""), modified: 0)
    self.kind = kind
  }
}

/// A part of a list of objects.
package struct ObjectPage: Sendable, Hashable {
  package var objects: [ObjectEntry]
  /// What a directory has in addition to objects and directories.
  package var foreign: [ForeignEntry] = []
  /// The mark to ask for the next page with; nil if this is the last one.
  package var next: String?
}
