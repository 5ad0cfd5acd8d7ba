import JSON

/// The ID of a record on a page: text, or a number if the ID field is a number field of the org.
enum PageID {
  case text(UnsafeRawBufferPointer)
  case number(Double)

  /// Passes the ID at a location to `body`; returns nil if the value is not an ID.
  @discardableResult
  static func reading<T>(
    _ span: JSONSpan, in bytes: UnsafeRawBufferPointer, _ body: (PageID) throws -> T
  ) rethrows -> T? {
    if span.kind == .string {
      return try body(.text(UnsafeRawBufferPointer(rebasing: bytes[span.range])))
    }
    if var text = span.text(in: bytes) {
      return try text.withUTF8 { try body(.text(UnsafeRawBufferPointer($0))) }
    }
    guard let number = span.number(in: bytes).flatMap({ Double($0) }) else { return nil }
    return try body(.number(number))
  }
}

extension RecordIDSet {
  /// Adds the ID of a record on a page.
  mutating func insert(_ id: PageID) {
    switch id {
    case .text(let bytes): insert(bytes)
    case .number(let number): insert(number)
    }
  }

  /// Whether the set contains the ID of a record on a page.
  func contains(_ id: PageID) -> Bool {
    switch id {
    case .text(let bytes): contains(bytes)
    case .number(let number): contains(number)
    }
  }
}

/// Values of an ID field that are not record IDs: texts, and numbers.
///
/// A store writes numbers as text in its own format, so they are compared by value.
struct OtherIDs: Sendable {
  enum Value {
    case text(String)
    case number(Double)

    func isIn(_ set: OtherIDs) -> Bool {
      switch self {
      case .text(let text): set.contains(text)
      case .number(let number): set.contains(number)
      }
    }
  }

  private(set) var texts: Set<String> = []
  private var numbers: Set<Double> = []
  /// The numeric values of the texts that are numbers.
  private var numerals: Set<Double> = []

  var count: Int { texts.count + numbers.count }
  var hasNumbers: Bool { !numbers.isEmpty }

  /// Adds a text; returns false if it is already present.
  mutating func insert(_ text: String) -> Bool {
    if let number = Self.number(text) { numerals.insert(number) }
    return texts.insert(text).inserted
  }

  mutating func insert(_ number: Double) { numbers.insert(number) }

  func contains(_ text: String) -> Bool {
    if texts.contains(text) { return true }
    guard hasNumbers, let number = Self.number(text) else { return false }
    return numbers.contains(number)
  }

  func contains(_ number: Double) -> Bool { numbers.contains(number) || numerals.contains(number) }

  mutating func formUnion(_ other: OtherIDs) {
    texts.formUnion(other.texts)
    numbers.formUnion(other.numbers)
    numerals.formUnion(other.numerals)
  }

  /// Removes the values for which `holds` returns false.
  mutating func keep(where holds: (Value) -> Bool) {
    texts = texts.filter { holds(.text($0)) }
    numbers = numbers.filter { holds(.number($0)) }
    numerals = Set(texts.compactMap(Self.number))
  }

  private static func number(_ text: String) -> Double? {
    guard let first = text.utf8.first, first == 0x2D || (0x30...0x39).contains(first) else {
      return nil
    }
    return Double(text)
  }
}
