/// Percent-encoding for queries, paths and forms.
///
/// All bytes except the unreserved set of RFC 3986 are encoded. An org reads a bare `+` as a space,
/// and the dates in SOQL statements often contain one.
package enum HTTPQuery {
  /// `text` with every byte outside the unreserved set percent-encoded.
  package static func encode(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + text.utf8.count / 2)
    for byte in text.utf8 {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `name=value&…` with both sides encoded: a query string or the body of a form.
  package static func string(_ pairs: [(String, String)]) -> String {
    pairs.map { encode($0.0) + "=" + encode($0.1) }.joined(separator: "&")
  }

  /// The pairs of a form or query string.
  ///
  /// `+` is a space; a name without `=` has an empty value.
  package static func decode(form: String) -> [(String, String)] {
    form.utf8.split(separator: UInt8(ascii: "&")).map { part in
      let sides = part.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let value = sides.count > 1 ? decode(bytes: sides[1], plusIsSpace: true) : ""
      return (decode(bytes: sides[0], plusIsSpace: true), value)
    }
  }

  /// A path with its escapes decoded; `+` is not changed.
  package static func decode(path: some StringProtocol) -> String {
    decode(bytes: path.utf8, plusIsSpace: false)
  }

  private static func decode(bytes: some Sequence<UInt8>, plusIsSpace: Bool) -> String {
    let source = Array(bytes)
    var result: [UInt8] = []
    result.reserveCapacity(source.count)
    var index = 0
    while index < source.count {
      let byte = source[index]
      if byte == UInt8(ascii: "%"), index + 2 < source.count,
        let high = value(of: source[index + 1]), let low = value(of: source[index + 2])
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
