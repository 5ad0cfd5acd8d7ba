import JSON

/// An element as it lies in the store, readable only while it is handed out.
package struct StoredElement: ~Copyable {
  /// The row's id.
  package let soupEntryID: Int64
  /// When the row was made, in milliseconds.
  package let created: Int64
  /// When the row was last written, in milliseconds.
  package let lastModified: Int64
  /// The element's JSON.
  package let bytes: UnsafeRawBufferPointer
  /// The places, in `bytes`, of the members that were asked for.
  package let fields: UnsafeBufferPointer<JSONSpan>

  /// The text of the member at a position of the paths; nil when it is no text.
  package func text(_ index: Int) -> String? { fields[index].text(in: bytes) }

  /// The bytes of the member at a position of the paths; of text, what stands between the quotes.
  package func raw(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[fields[index].range])
  }

  /// Says whether the member at a position of the paths is a flag that a platform's SDK takes for
  /// set.
  package func isSet(_ index: Int, on platform: Platform) -> Bool {
    platform.isSet(fields[index], in: bytes)
  }

  /// The whole element.
  package func value() throws(JSONError) -> JSONValue { try JSONValue(parsing: bytes) }
}

/// Which elements of a soup, by the members that Mobile Sync keeps.
package enum ElementFilter: Sendable, Hashable {
  /// All of them.
  case all
  /// Those with changes that the server does not know: the index on `__local__` says so, as the
  /// platform's SDK asks it, or the element does, as the SDK reads it.
  case dirty
  /// Those without, of one sync where the soup has an index on the sync's id.
  case clean(syncID: Int64? = nil)
  /// Those whose rows were written at a time of the store's clock, in milliseconds, or later.
  case written(since: Int64)
}
