/// Reads members at the start of a page that may still be arriving.
package enum JSONHead {
  /// The result of the search for a member in the available bytes.
  package enum Answer: Sendable, Hashable {
    /// The string, the number's literal, or `true` or `false`.
    case found(String)
    /// More bytes are needed.
    case absentSoFar
    /// An array started, or the object ended, before the member: it is not at the start of the
    /// page.
    case arrayReached
  }

  /// A string, number or Boolean member of the top-level object.
  ///
  /// If the text is not JSON, the result is `absentSoFar`; the scan of the whole page finds the
  /// fault.
  package static func stringMember(
    _ name: String, in head: UnsafeRawBufferPointer
  ) -> Answer {
    guard let base = head.baseAddress, head.count > 0 else { return .absentSoFar }
    var cursor = JSONCursor(base, count: head.count)
    do throws(JSONFault) {
      try cursor.take(0x7B, .notObject)
      while true {
        let next = try cursor.peek()
        if next == 0x7D { return .arrayReached }
        if next == 0x2C { cursor.offset += 1 }
        guard try cursor.peek() == 0x22 else { return .absentSoFar }
        let member = try cursor.text()
        try cursor.take(0x3A, .colon)
        switch try cursor.peek() {
        case 0x5B: return .arrayReached
        case 0x22 where member == name: return .found(try cursor.text())
        default:
          let span = try cursor.skipValue(depth: 1)
          guard member == name else { continue }
          if span.kind == .true { return .found("true") }
          if span.kind == .false { return .found("false") }
          // A number at the end of the available bytes may continue in the next ones.
          if span.kind == .number, Int(span.end) < head.count {
            let literal = head[Int(span.start)..<Int(span.end)]
            return .found(String(decoding: literal, as: UTF8.self))
          }
        }
      }
    } catch {
      return .absentSoFar
    }
  }
}
