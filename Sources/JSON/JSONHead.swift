/// Reads members at the head of a page that may still be arriving.
package enum JSONHead {
  /// What the bytes so far say about a member.
  package enum Answer: Sendable, Hashable {
    /// The string, the number's literal, or `true` or `false`.
    case found(String)
    /// More bytes are needed.
    case absentSoFar
    /// An array began, or the object ended, before the member: it does not stand at the head.
    case arrayReached
  }

  /// A string, number or boolean member of the top-level object.
  ///
  /// A text that is not JSON is answered as absent so far: the scan of the whole page finds the
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
          // A number at the end of the bytes may go on in the next ones.
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
