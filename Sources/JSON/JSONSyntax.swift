/// Proves that bytes are JSON, without making anything of them.
package enum JSONSyntax {
  /// Throws where `text` is not one JSON value: what `JSONValue(parsing:)` refuses, this refuses.
  package static func check(_ text: UnsafeRawBufferPointer) throws(JSONError) {
    do throws(JSONFault) {
      guard let base = text.baseAddress, text.count > 0 else {
        throw JSONFault(reason: .end, offset: 0)
      }
      guard text.count <= Int(Int32.max) else { throw JSONFault(reason: .tooLarge, offset: 0) }
      var cursor = JSONCursor(base, count: text.count)
      _ = try cursor.skipValue(depth: 0)
      try cursor.finish()
    } catch {
      throw error.error(in: text)
    }
  }
}
