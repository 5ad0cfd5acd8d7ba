/// Validates JSON without creating values.
package enum JSONSyntax {
  /// Throws unless `text` is one JSON value.
  ///
  /// It rejects the same texts as `JSONValue(parsing:)`.
  package static func check(_ text: UnsafeRawBufferPointer) throws(JSONError) {
    _ = try JSONCursor.whole(text) { (cursor) throws(JSONFault) in
      try cursor.skipValue(depth: 0)
    }
  }
}
