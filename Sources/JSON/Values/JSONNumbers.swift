/// JSON numbers compared by value, regardless of their spelling.
package enum JSONNumbers {
  /// Whether two JSON texts have the same bytes, except for numbers in different spellings:
  /// `10000000` and `1.0E7`.
  package static func areSameButForSpelling(
    _ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer
  ) -> Bool {
    var (place, second) = (0, 0)
    var isInString = false
    while place < one.count, second < other.count {
      let byte = one[place]
      if !isInString, isPart(byte), isPart(other[second]) {
        let (end, otherEnd) = (endOfWord(one, place), endOfWord(other, second))
        let (word, otherWord) = (one[place..<end], other[second..<otherEnd])
        if !word.elementsEqual(otherWord) {
          guard let value = Decimal(word), value == Decimal(otherWord) else { return false }
        }
        (place, second) = (end, otherEnd)
        continue
      }
      guard byte == other[second] else { return false }
      if byte == UInt8(ascii: "\\"), place + 1 < one.count, second + 1 < other.count {
        guard one[place + 1] == other[second + 1] else { return false }
        place += 1
        second += 1
      } else if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      }
      place += 1
      second += 1
    }
    return place == one.count && second == other.count
  }

  /// Whether the bytes are a JSON number.
  package static func isNumber(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    var rest = text[...]
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    func digits() -> Int {
      let count = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
      rest = rest.dropFirst(count)
      return count
    }
    let isZero = rest.first == 0x30
    let whole = digits()
    guard whole == 1 || (whole > 1 && !isZero) else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      if digits() == 0 { return false }
    }
    if rest.first.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
        rest = rest.dropFirst()
      }
      if digits() == 0 { return false }
    }
    return rest.isEmpty
  }

  /// Whether a byte may be part of a number.
  ///
  /// Letters of other words match too; such words are compared by their bytes.
  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  private static func endOfWord(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int {
    var end = start
    while end < bytes.count, isPart(bytes[end]) { end += 1 }
    return end
  }

  /// A number as its digits without zeros at either end, and the power of ten of the last digit.
  ///
  /// Exact at any length.
  private struct Decimal: Equatable {
    var isNegative = false
    var digits: [UInt8] = []
    var exponent = 0

    /// Creates a number; nil if the text is not a JSON number.
    init?(_ text: Slice<UnsafeRawBufferPointer>) {
      guard JSONNumbers.isNumber(text) else { return nil }
      var isFraction = false
      var rest = text
      if rest.first == UInt8(ascii: "-") {
        isNegative = true
        rest = rest.dropFirst()
      }
      while let byte = rest.first, byte | 0x20 != UInt8(ascii: "e") {
        rest = rest.dropFirst()
        if byte == UInt8(ascii: ".") {
          isFraction = true
        } else {
          digits.append(byte)
          if isFraction { exponent -= 1 }
        }
      }
      if !rest.isEmpty {
        let power = String(decoding: rest.dropFirst(), as: UTF8.self)
        guard let power = Int(power), power.magnitude < 1_000_000 else { return nil }
        exponent += power
      }
      digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
      while digits.last == UInt8(ascii: "0") {
        digits.removeLast()
        exponent += 1
      }
      // Zero is one number, regardless of its sign.
      if digits.isEmpty { (isNegative, exponent) = (false, 0) }
    }
  }
}
