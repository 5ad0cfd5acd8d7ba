/// The part of XML that the older APIs need: reading leaves by name, and escaping text.
enum XMLText {
  static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"

  /// Returns an element with a text.
  static func element(_ name: String, _ text: String) -> String {
    "<\(name)>\(escaped(text))</\(name)>"
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }

  /// Returns the texts of the elements that contain only text, by their names without prefix; nil
  /// if the text is not XML.
  ///
  /// Of several with one name, the first counts.
  static func leaves(_ bytes: [UInt8]) -> [String: String]? {
    paths(bytes)?.reduce(into: [:]) { leaves, leaf in
      let name = leaf.path.last ?? ""
      if leaves[name] == nil { leaves[name] = leaf.text }
    }
  }

  /// Returns the texts of those elements in order, each with the names of its ancestors and its
  /// own; nil if the text is not XML.
  static func paths(_ bytes: [UInt8]) -> [(path: [String], text: String)]? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    var leaves: [(path: [String], text: String)] = []
    var rest = text[...]
    var opened: (name: String, isLeaf: Bool)?
    var open: [String] = []
    while let start = rest.firstIndex(of: "<") {
      let before = rest[..<start]
      guard let end = rest[start...].firstIndex(of: ">") else { return nil }
      let tag = rest[rest.index(after: start)..<end]
      rest = rest[rest.index(after: end)...]
      if tag.hasPrefix("?") || tag.hasPrefix("!") { continue }
      let name = tag.drop { $0 == "/" }.prefix { !$0.isWhitespace && $0 != "/" }
      let local = String(name.split(separator: ":").last ?? "")
      if tag.hasPrefix("/") {
        guard open.popLast() == local else { return nil }
        if let leaf = opened, leaf.isLeaf, leaf.name == local {
          leaves.append((open + [local], unescaped(before)))
        }
        opened = nil
      } else if !tag.hasSuffix("/") {
        open.append(local)
        opened = (local, true)
      }
    }
    return open.isEmpty ? leaves : nil
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.contains("&") else { return String(text) }
    var result = ""
    var rest = text
    while let start = rest.firstIndex(of: "&") {
      result += rest[..<start]
      guard let end = rest[start...].firstIndex(of: ";") else { return result + rest[start...] }
      result += character(rest[rest.index(after: start)..<end])
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func character(_ entity: Substring) -> String {
    switch entity {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      let isHex = entity.hasPrefix("#x")
      let number = UInt32(entity.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10)
      return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? ""
    }
  }
}
