import JSON

/// A stored element, readable only inside the closure that receives it.
package struct StoredElement: ~Copyable {
  /// The row's ID.
  package let soupEntryID: Int64
  /// The time of the row's creation, in milliseconds.
  package let created: Int64
  /// The time of the row's last change, in milliseconds.
  package let lastModified: Int64
  /// The element's JSON.
  package let bytes: UnsafeRawBufferPointer
  /// The positions of the requested members in `bytes`.
  package let fields: UnsafeBufferPointer<JSONSpan>

  /// The text of the member at an index of the paths; nil if it is not text.
  package func text(_ index: Int) -> String? { fields[index].text(in: bytes) }

  /// The bytes of the member at an index of the paths; for text, those between the quotes.
  package func raw(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[fields[index].range])
  }

  /// Whether the member at an index of the paths is a flag that a platform's SDK considers set.
  package func isSet(_ index: Int, on platform: Platform) -> Bool {
    platform.isSet(fields[index], in: bytes)
  }

  /// The whole element.
  package func value() throws(JSONError) -> JSONValue { try JSONValue(parsing: bytes) }
}

/// A selection of a soup's elements by the members of Mobile Sync.
package enum ElementFilter: Sendable, Hashable {
  /// All elements.
  case all
  /// Elements with local changes, by the index on `__local__` as the platform's SDK queries it, or
  /// by the element as the SDK reads it.
  case dirty
  /// Elements without local changes, of one sync if the soup has an index on the sync's ID.
  case clean(syncID: Int64? = nil)
  /// Elements whose rows were written at or after a time of the store's clock, in milliseconds.
  case written(since: Int64)
}
