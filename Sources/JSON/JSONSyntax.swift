/// Proves that bytes are JSON, without making anything of them.
package enum JSONSyntax {
  /// Throws where `text` is not one JSON value: what `JSONValue(parsing:)` refuses, this refuses.
  package static func check(_ text: UnsafeRawBufferPointer) throws(JSONError) {
    _ = try JSONCursor.whole(text) { (cursor) throws(JSONFault) in
      try cursor.skipValue(depth: 0)
    }
  }
}
