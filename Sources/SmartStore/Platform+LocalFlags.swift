import JSON

/// The rules by which Mobile Sync considers a local flag set (for the index, see `IndexValue`).
///
/// The four members `__local__`, `__locally_created__`, `__locally_updated__` and
/// `__locally_deleted__` should be JSON Booleans. Apps also write other values, and each SDK
/// converts them with the rules of its platform.
extension Platform {
  /// Whether a flag of an element is set.
  package func isSet(_ flag: JSONValue?) -> Bool {
    switch flag {
    case .bool(let flag)?: flag
    case .number(let literal)?: isSet(number: literal)
    case .string(let text)?: isSet(text: text)
    case nil, .null?, .array?, .object?: false
    }
  }

  /// Whether a flag is set at the position that the scanner found in an element.
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

  /// Android's `JSONObject.optBoolean` ignores numbers; iOS's `NSNumber.boolValue` is true unless
  /// the number is 0.
  private func isSet(number literal: String) -> Bool {
    self == .ios && (Double(literal) ?? 0) != 0
  }

  /// Android's `optBoolean` accepts `true` in any case.
  ///
  /// iOS's `NSString.boolValue` looks at the start: Y, T, or a number with a digit other than 0.
  private func isSet(text: String) -> Bool {
    if self == .android { return text.lowercased() == "true" }
    var rest = text.utf8.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
    if let first = rest.first, "YyTt".utf8.contains(first) { return true }
    if let first = rest.first, "+-".utf8.contains(first) { rest = rest.dropFirst() }
    return rest.first { $0 != 0x30 }.map { (0x31...0x39).contains($0) } ?? false
  }
}
