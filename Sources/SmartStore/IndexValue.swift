import JSON
import SQLite

/// The value that a platform's SDK stores in an index column for a projected value.
///
/// It is the value that is *bound*; the column's affinity converts it, as on a device. An FTS5
/// table has no affinity, so it stores the bound value itself.
enum IndexValue {
  /// The value to bind; nil and JSON null become NULL.
  static func bound(_ value: JSONValue?, type: IndexType, platform: Platform) -> SQLiteValue {
    switch value {
    case nil, .null?: .null
    case .bool(let flag)?: bound(flag: flag, type: type, platform: platform)
    case .number(let literal)?: bound(number: literal, type: type, platform: platform)
    case .string(let text)?: bound(text: text, type: type, platform: platform)
    case .array?, .object?: bound(structure: value ?? .null, type: type, platform: platform)
    }
  }

  /// The value to bind for a Boolean.
  static func bound(flag: Bool, type: IndexType, platform: Platform) -> SQLiteValue {
    switch (platform, type) {
    case (.android, .string), (.android, .fullText): .text(flag ? "true" : "false")
    case (.android, _): .null
    case (.ios, _): .integer(flag ? 1 : 0)
    }
  }

  /// The text of a Boolean in a string column, whose affinity converts numbers to text.
  static func text(of flag: Bool, on platform: Platform) -> String {
    switch bound(flag: flag, type: .string, platform: platform) {
    case .text(let text): text
    case let value: value.integer.map(String.init) ?? ""
    }
  }

  /// The value to bind for a number, given as its literal.
  static func bound(number literal: String, type: IndexType, platform: Platform) -> SQLiteValue {
    switch platform {
    case .ios: number(literal).value(orText: literal, isText: type == .string || type == .fullText)
    case .android:
      switch type {
      case .string, .fullText: .text(JavaText.number(literal))
      case .integer: .integer(number(literal).truncated)
      case .floating: .real(number(literal).double)
      case .json1: .null
      }
    }
  }

  /// The value to bind for a text.
  static func bound(text: String, type: IndexType, platform: Platform) -> SQLiteValue {
    keepsText(type, platform) ? .text(text) : .null
  }

  /// Whether text is stored in a column of this type.
  ///
  /// Android stores NULL in number columns.
  @inline(__always)
  static func keepsText(_ type: IndexType, _ platform: Platform) -> Bool {
    platform == .ios || type == .string || type == .fullText
  }

  private static func bound(
    structure: JSONValue, type: IndexType, platform: Platform
  ) -> SQLiteValue {
    guard keepsText(type, platform) else { return .null }
    var bytes: [UInt8] = []
    append(structure, platform, to: &bytes)
    return .text(String(decoding: bytes, as: UTF8.self))
  }

  // MARK: numbers

  /// A JSON number as the SDKs' parsers represent it.
  private enum Number {
    case integer(Int64)
    case double(Double)

    var double: Double {
      switch self {
      case .integer(let value): Double(value)
      case .double(let value): value
      }
    }

    /// Java's `longValue`: truncated towards zero, and clamped to the range.
    var truncated: Int64 {
      switch self {
      case .integer(let value): value
      case .double(let value):
        if value.isNaN {
          0
        } else if value >= 0x1p63 {
          .max
        } else if value < -0x1p63 {
          .min
        } else {
          Int64(value)
        }
      }
    }

    /// An integer that does not fit into 64 bits keeps its literal in a text column.
    func value(orText literal: String, isText: Bool) -> SQLiteValue {
      switch self {
      case .integer(let value): return .integer(value)
      case .double(let value):
        let isWhole = literal.utf8.allSatisfy { $0 == 0x2d || ($0 >= 0x30 && $0 <= 0x39) }
        return isWhole && isText ? .text(literal) : .real(value)
      }
    }
  }

  private static func number(_ literal: String) -> Number {
    if let integer = Int64(literal) { return .integer(integer) }
    return .double(Double(literal) ?? 0)
  }

  // MARK: JSON text

  /// Compact JSON with `\/`, as both SDKs write an object or array into a text column.
  private static func append(_ value: JSONValue, _ platform: Platform, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes += Array("null".utf8)
    case .bool(let flag): bytes += Array((flag ? "true" : "false").utf8)
    case .number(let literal):
      bytes += Array((platform == .android ? JavaText.nestedNumber(literal) : literal).utf8)
    case .string(let text): appendQuoted(text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(element, platform, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in object.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        appendQuoted(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(member.value, platform, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
    for byte in JSONText.quoted(text).utf8 {
      if byte == UInt8(ascii: "/") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
  }
}

extension Platform {
  /// The text of a Boolean in a string index.
  package func text(of flag: Bool) -> String { IndexValue.text(of: flag, on: self) }
}
