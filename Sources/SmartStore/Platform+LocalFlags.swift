import JSON

/// What Mobile Sync takes for a set flag: the one place that says so (`IndexValue` says how an index has it).
///
/// The four members `__local__`, `__locally_created__`, `__locally_updated__` and
/// `__locally_deleted__` should be JSON booleans, but apps write them in other ways too, and each SDK
/// reads what it finds with its platform's own conversion.
extension Platform {
  /// Says whether a flag of an element is set.
  package func isSet(_ flag: JSONValue?) -> Bool {
    switch flag {
    case .bool(let flag)?: flag
    case .number(let literal)?: isSet(number: literal)
    case .string(let text)?: isSet(text: text)
    case nil, .null?, .array?, .object?: false
    }
  }

  /// Says whether a flag is set whose place in an element the scanner found.
  package func isSet(_ span: JSONSpan, in element: UnsafeRawBufferPointer) -> Bool {
    switch span.kind {
    case .true: return true
    case .missing, .null, .false, .array, .object: return false
    case .number: return isSet(number: String(decoding: element[span.range], as: UTF8.self))
    case .string: return isSet(text: String(decoding: element[span.range], as: UTF8.self))
    case .escapedString:
      var text: [UInt8] = []
      let raw = UnsafeRawBufferPointer(rebasing: element[span.range])
      guard (try? JSONText.unescape(raw, into: &text)) != nil else { return false }
      return isSet(text: String(decoding: text, as: UTF8.self))
    }
  }

  /// Android's `JSONObject.optBoolean` knows no numbers; `NSNumber.boolValue` is whether it is not 0.
  private func isSet(number literal: String) -> Bool {
    self == .ios && (Double(literal) ?? 0) != 0
  }

  /// `optBoolean` takes `true` in letters of any case; `NSString.boolValue` looks at the beginning:
  /// a Y or T, or a number whose first digit other than 0 stands before anything else.
  private func isSet(text: String) -> Bool {
    if self == .android { return text.lowercased() == "true" }
    var rest = text.utf8.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
    if let first = rest.first, "YyTt".utf8.contains(first) { return true }
    if let first = rest.first, "+-".utf8.contains(first) { rest = rest.dropFirst() }
    return rest.first { $0 != 0x30 }.map { (0x31...0x39).contains($0) } ?? false
  }
}
