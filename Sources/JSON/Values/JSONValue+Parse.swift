extension JSONValue {
  /// Parses a whole text: strict RFC 8259, valid UTF-8, at most 64 levels.
  ///
  /// For equal names, the last value is kept.
  package init(parsing text: UnsafeRawBufferPointer) throws(JSONError) {
    self = try JSONCursor.whole(text) { (cursor) throws(JSONFault) in
      try cursor.value(depth: 0)
    }
  }

  package init(parsing text: [UInt8]) throws(JSONError) {
    let result = text.withUnsafeBytes { bytes in
      Result { () throws(JSONError) in try JSONValue(parsing: bytes) }
    }
    self = try result.get()
  }

  package init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }
}

extension JSONCursor {
  /// The result of `body` for a text that must contain one value and nothing else.
  static func whole<Value>(
    _ text: UnsafeRawBufferPointer, _ body: (inout JSONCursor) throws(JSONFault) -> Value
  ) throws(JSONError) -> Value {
    do throws(JSONFault) {
      guard let base = text.baseAddress, text.count > 0 else {
        throw JSONFault(reason: .end, offset: 0)
      }
      guard text.count <= Int(Int32.max) else { throw JSONFault(reason: .tooLarge, offset: 0) }
      var cursor = JSONCursor(base, count: text.count)
      let value = try body(&cursor)
      try cursor.finish()
      return value
    } catch {
      throw error.error(in: text)
    }
  }

  /// Consumes a value and returns its tree.
  mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    let first = try peek()
    let start = offset
    switch first {
    case 0x22: return .string(try text())
    case 0x7B: return .object(try object(depth: depth))
    case 0x5B: return .array(try array(depth: depth))
    case 0x2D, 0x30...0x39:
      try skipNumber()
      return .number(decoded(start..<offset))
    default:
      switch try skipLiteral() {
      case .true: return .bool(true)
      case .false: return .bool(false)
      default: return .null
      }
    }
  }

  /// Consumes a string whose opening quote is at `offset`.
  mutating func text() throws(JSONFault) -> String {
    let start = offset &+ 1
    guard try skipString() else { return decoded(start..<offset &- 1) }
    var bytes: [UInt8] = []
    let raw = UnsafeRawBufferPointer(start: base + start, count: offset &- 1 &- start)
    do throws(JSONError) {
      try JSONText.unescape(raw, into: &bytes)
    } catch {
      throw JSONFault(reason: .escape, offset: start + error.offset)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func decoded(_ range: Range<Int>) -> String {
    let raw = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    return String(decoding: raw, as: UTF8.self)
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSONObject {
    guard depth < Self.depthLimit else { throw JSONFault(reason: .depth, offset: offset) }
    var members: [JSONObject.Member] = []
    offset &+= 1
    if try peek() == 0x7D {
      offset &+= 1
      return JSONObject()
    }
    while true {
      guard try peek() == 0x22 else { throw JSONFault(reason: .name, offset: offset) }
      let name = try text()
      try take(0x3A, .colon)
      members.append(JSONObject.Member(name: name, value: try value(depth: depth &+ 1)))
      let next = try peek()
      guard next == 0x2C || next == 0x7D else { throw JSONFault(reason: .comma, offset: offset) }
      offset &+= 1
      if next == 0x7D { return JSONObject(members: members) }
    }
  }

  private mutating func array(depth: Int) throws(JSONFault) -> [JSONValue] {
    guard depth < Self.depthLimit else { throw JSONFault(reason: .depth, offset: offset) }
    var elements: [JSONValue] = []
    offset &+= 1
    if try peek() == 0x5D {
      offset &+= 1
      return elements
    }
    while true {
      elements.append(try value(depth: depth &+ 1))
      let next = try peek()
      guard next == 0x2C || next == 0x5D else { throw JSONFault(reason: .comma, offset: offset) }
      offset &+= 1
      if next == 0x5D { return elements }
    }
  }
}
