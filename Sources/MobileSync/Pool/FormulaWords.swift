/// The names in the text of a formula: the functions that it calls, and everything else it reads.
struct FormulaWords {
  /// The called functions, in upper case.
  private(set) var functions: [String] = []
  /// The fields and global values, with the path to them.
  private(set) var names: [String] = []

  /// Words that are values.
  private static let values: Set = ["TRUE", "FALSE", "NULL"]

  /// Reads a formula; nil if it contains something that is not known, such as a comment.
  init?(_ formula: String) {
    let bytes = Array(formula.utf8)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        guard let end = Self.endOfText(bytes, from: index) else { return nil }
        index = end
      case UInt8(ascii: "/") where index + 1 < bytes.count && bytes[index + 1] == 0x2A:
        return nil
      case _ where Self.isOfName(byte):
        let start = index
        while index < bytes.count, Self.isOfName(bytes[index]) { index += 1 }
        let word = String(decoding: bytes[start..<index], as: UTF8.self)
        var next = index
        while next < bytes.count, Self.isSpace(bytes[next]) { next += 1 }
        note(word, isCalled: next < bytes.count && bytes[next] == UInt8(ascii: "("))
      case _ where Self.isSpace(byte) || Self.marks.contains(byte): index += 1
      default: return nil
      }
    }
  }

  private mutating func note(_ word: String, isCalled: Bool) {
    if isCalled { return functions.append(word.uppercased()) }
    let isNumber = word.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    if !isNumber, !Self.values.contains(word.uppercased()) { names.append(word) }
  }

  /// The index after the quote that closes a text; nil if there is none.
  private static func endOfText(_ bytes: [UInt8], from start: Int) -> Int? {
    var index = start + 1
    while index < bytes.count {
      if bytes[index] == bytes[start] { return index + 1 }
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "."),
      UInt8(ascii: "$"):
      true
    default: false
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  private static let marks = Set("+-*/^()<>=!&|,".utf8)
}
