extension JSONValue {
  /// Compact JSON.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// Compact JSON as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// JSON, indented by two spaces with a line break at the end when `pretty`.
  package func bytes(pretty: Bool, sortedKeys: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes, indent: pretty ? 0 : nil, sortedKeys: sortedKeys)
    if pretty { bytes.append(0x0A) }
    return bytes
  }

  /// Appends JSON; `indent` is the depth of an indented text, nil for a compact one.
  package func append(to bytes: inout [UInt8], indent: Int? = nil, sortedKeys: Bool = false) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
    case .number(let literal): bytes.append(contentsOf: literal.utf8)
    case .string(let string): JSONText.appendQuoted(string, to: &bytes)
    case .array(let elements):
      Self.wrap(elements, in: (0x5B, 0x5D), indent: indent, into: &bytes) { element, bytes in
        element.append(to: &bytes, indent: indent.map { $0 + 1 }, sortedKeys: sortedKeys)
      }
    case .object(let object):
      let members = sortedKeys ? object.sorted { $0.name < $1.name } : Array(object)
      Self.wrap(members, in: (0x7B, 0x7D), indent: indent, into: &bytes) { member, bytes in
        JSONText.appendQuoted(member.name, to: &bytes)
        bytes.append(0x3A)
        if indent != nil { bytes.append(0x20) }
        member.value.append(to: &bytes, indent: indent.map { $0 + 1 }, sortedKeys: sortedKeys)
      }
    }
  }

  private static func wrap<Element>(
    _ elements: [Element], in brackets: (UInt8, UInt8), indent: Int?, into bytes: inout [UInt8],
    _ write: (Element, inout [UInt8]) -> Void
  ) {
    func newLine(_ depth: Int, _ bytes: inout [UInt8]) {
      bytes.append(0x0A)
      bytes.append(contentsOf: repeatElement(0x20, count: depth * 2))
    }
    bytes.append(brackets.0)
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(0x2C) }
      if let indent { newLine(indent + 1, &bytes) }
      write(element, &bytes)
    }
    if let indent, !elements.isEmpty { newLine(indent, &bytes) }
    bytes.append(brackets.1)
  }
}
