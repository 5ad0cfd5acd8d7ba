extension JSONValue {
  /// The value as compact JSON.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// The value as compact JSON text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The value as the content of a file that people may read.
  package var fileBytes: [UInt8] { bytes(pretty: true, sortedKeys: false) }

  /// The value as JSON; if `pretty`, indented by two spaces with a line break at the end.
  package func bytes(pretty: Bool, sortedKeys: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes, indent: pretty ? 0 : nil, sortedKeys: sortedKeys)
    if pretty { bytes.append(0x0A) }
    return bytes
  }

  /// Appends JSON.
  ///
  /// `indent` is the depth in an indented text, nil for a compact one.
  package func append(to bytes: inout [UInt8], indent: Int? = nil, sortedKeys: Bool = false) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
    case .number(let literal): bytes.append(contentsOf: literal.utf8)
    case .string(let string): JSONText.appendQuoted(string, to: &bytes)
    case .array(let elements):
      bytes.append(0x5B)
      for (index, element) in elements.enumerated() {
        Self.separate(index, indent, &bytes)
        element.append(to: &bytes, indent: indent.map { $0 + 1 }, sortedKeys: sortedKeys)
      }
      Self.end(elements.count, indent, &bytes)
      bytes.append(0x5D)
    case .object(let object):
      bytes.append(0x7B)
      object.forEach(sorted: sortedKeys) { index, name, value in
        Self.separate(index, indent, &bytes)
        JSONText.appendQuoted(name, to: &bytes)
        bytes.append(0x3A)
        if indent != nil { bytes.append(0x20) }
        value.append(to: &bytes, indent: indent.map { $0 + 1 }, sortedKeys: sortedKeys)
      }
      Self.end(object.count, indent, &bytes)
      bytes.append(0x7D)
    }
  }

  /// Appends the separator before an element or a member.
  private static func separate(_ index: Int, _ indent: Int?, _ bytes: inout [UInt8]) {
    if index > 0 { bytes.append(0x2C) }
    if let indent { startLine(indent + 1, &bytes) }
  }

  /// Appends the white space after the last element or member.
  private static func end(_ count: Int, _ indent: Int?, _ bytes: inout [UInt8]) {
    if let indent, count > 0 { startLine(indent, &bytes) }
  }

  private static func startLine(_ depth: Int, _ bytes: inout [UInt8]) {
    bytes.append(0x0A)
    for _ in 0..<depth {
      bytes.append(0x20)
      bytes.append(0x20)
    }
  }
}
