/// An element of an XML response: its name without the prefix, its text and its child elements.
///
/// It accepts what SOAP and S3 need, strictly: no document type, no processing instruction, and only
/// the entities of XML itself. Any violation makes the whole document invalid.
package struct XMLElement: Sendable, Hashable {
  /// The name, without the prefix.
  package var name: String
  /// The text outside its child elements.
  package var text = ""
  package var children: [XMLElement] = []

  /// The first child element with this name.
  package func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

  /// Parses a UTF-8 document; nil if it is invalid.
  package init?(parsing bytes: [UInt8]) {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var reader = Reader(bytes: bytes)
    guard let root = reader.document() else { return nil }
    self = root
  }

  private init(name: String) { self.name = name }

  /// The maximum nesting depth, more than any response has.
  private static let mostDepth = 32

  private struct Reader {
    let bytes: [UInt8]
    var place = 0

    mutating func document() -> XMLElement? {
      _ = take("\u{FEFF}")
      if take("<?xml"), !skip(past: "?>") { return nil }
      guard between(), let root = element(depth: 0), between(), place == bytes.count else {
        return nil
      }
      return root
    }

    /// Skips white space and comments outside the root.
    private mutating func between() -> Bool {
      while true {
        blanks()
        guard take("<!--") else { return true }
        if !skip(past: "-->") { return false }
      }
    }

    private mutating func element(depth: Int) -> XMLElement? {
      guard depth < XMLElement.mostDepth, take("<"), let name = name() else { return nil }
      var element = XMLElement(name: String(name.split(separator: ":").last ?? ""))
      while !take(">") {
        let start = place
        blanks()
        if take("/>") { return element }
        if take(">") { break }
        // White space must precede an attribute.
        guard place > start, attribute() else { return nil }
      }
      while !take("</") {
        if take("<!--") {
          guard skip(past: "-->") else { return nil }
        } else if take("<![CDATA[") {
          let start = place
          guard skip(past: "]]>") else { return nil }
          element.text += String(decoding: bytes[start..<(place - 3)], as: UTF8.self)
        } else if place < bytes.count, bytes[place] == UInt8(ascii: "<") {
          guard let child = self.element(depth: depth + 1) else { return nil }
          element.children.append(child)
        } else {
          guard let text = text(until: UInt8(ascii: "<")) else { return nil }
          element.text += text
        }
      }
      guard self.name() == name else { return nil }
      blanks()
      return take(">") ? element : nil
    }

    private mutating func attribute() -> Bool {
      guard name() != nil else { return false }
      blanks()
      guard take("=") else { return false }
      blanks()
      guard take("\"") else { return take("'") && value(until: UInt8(ascii: "'")) }
      return value(until: UInt8(ascii: "\""))
    }

    private mutating func value(until quote: UInt8) -> Bool {
      guard let value = text(until: quote), !value.contains("<") else { return false }
      place += 1
      return true
    }

    /// The text before a required byte.
    private mutating func text(until end: UInt8) -> String? {
      var text = ""
      var start = place
      while place < bytes.count, bytes[place] != end {
        let byte = bytes[place]
        if byte < 0x20, byte != 0x09, byte != 0x0A, byte != 0x0D { return nil }
        guard byte == UInt8(ascii: "&") else {
          place += 1
          continue
        }
        text += String(decoding: bytes[start..<place], as: UTF8.self)
        guard let character = reference() else { return nil }
        text.unicodeScalars.append(character)
        start = place
      }
      guard place < bytes.count else { return nil }
      return text + String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private mutating func reference() -> Unicode.Scalar? {
      for (entity, character) in Self.entities where take(entity) { return character }
      let isHex = take("&#x")
      guard isHex || take("&#") else { return nil }
      let start = place
      guard skip(past: ";") else { return nil }
      let digits = String(decoding: bytes[start..<(place - 1)], as: UTF8.self)
      guard digits.count <= 8, !digits.hasPrefix("+"), !digits.hasPrefix("-") else { return nil }
      return UInt32(digits, radix: isHex ? 16 : 10).flatMap(Unicode.Scalar.init)
    }

    private static let entities: [(String, Unicode.Scalar)] = [
      ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
    ]

    private mutating func name() -> String? {
      let start = place
      while place < bytes.count, Self.isOfName(bytes[place], isFirst: place == start) { place += 1 }
      return place > start ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
    }

    private static func isOfName(_ byte: UInt8, isFirst: Bool) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "_"), UInt8(ascii: ":"), 0x80...:
        true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
      default: false
      }
    }

    private mutating func blanks() {
      while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
    }

    private mutating func take(_ text: String) -> Bool {
      guard bytes[place...].starts(with: text.utf8) else { return false }
      place += text.utf8.count
      return true
    }

    private mutating func skip(past text: String) -> Bool {
      while place < bytes.count {
        if take(text) { return true }
        place += 1
      }
      return false
    }
  }
}
