import Crypto
import System

/// A line of a file of allowed signers: whose signatures a key makes, and for what.
struct AllowedSigner: Sendable, Hashable {
  /// The names of the signer.
  let names: NamePattern
  /// The namespaces that the key may sign; nil for all.
  private(set) var namespaces: NamePattern?
  /// The start of the key's validity, in milliseconds since 1970; nil if it has none.
  private(set) var validAfter: Int64?
  /// The end of the key's validity, in milliseconds since 1970; nil if it has none.
  private(set) var validBefore: Int64?
  /// Whether the key only signs certificates, which attache does not read.
  private(set) var isAuthority = false
  /// The key; nil if its algorithm is neither P-256 nor Ed25519.
  let key: VerifyingKey?

  /// Reads a line.
  ///
  /// - Throws: The fault, as the end of a sentence about the line.
  init(_ line: String) throws(LineFault) {
    var words = Self.words(of: line)[...]
    guard let names = words.popFirst(), !names.isEmpty, var next = words.popFirst() else {
      throw LineFault("has no key")
    }
    self.names = NamePattern(text: Self.unquoted(names))
    var options: [String] = []
    if !Self.isAlgorithm(next) {
      options = Self.parts(of: next)
      guard let word = words.popFirst() else { throw LineFault("has no key") }
      next = word
    }
    guard let text = words.popFirst(), let wire = Base64.decode(text),
      wire.count > next.utf8.count + 4, wire.dropFirst(4).starts(with: next.utf8)
    else { throw LineFault("has a damaged key") }
    key = VerifyingKey(wire: wire)
    if key == nil, ["ecdsa-sha2-nistp256", "ssh-ed25519"].contains(next) {
      throw LineFault("has a damaged key")
    }
    for option in options { try read(option: option) }
  }

  private mutating func read(option: String) throws(LineFault) {
    let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
    let value = parts.count == 2 ? Self.unquoted(parts[1]) : ""
    switch (parts.first ?? "").lowercased() {
    case "namespaces" where !value.isEmpty: namespaces = NamePattern(text: value)
    case "valid-after": validAfter = try Self.time(value)
    case "valid-before": validBefore = try Self.time(value)
    case "cert-authority" where parts.count == 1: isAuthority = true
    default: throw LineFault("has an unknown option \(option)")
    }
  }

  /// Reads a time such as `20260131` or `20260131120000Z`.
  ///
  /// `ssh-keygen` reads a time without a Z in the time zone of the machine.
  private static func time(_ text: String) throws(LineFault) -> Int64 {
    let digits = text.hasSuffix("Z") ? text.dropLast() : text[...]
    guard [8, 12, 14].contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber })
    else { throw LineFault("has the time \(text), which is not YYYYMMDD[HHMM[SS]]Z") }
    guard text.hasSuffix("Z") else {
      throw LineFault("has the time \(text), which depends on the time zone: write \(text)Z")
    }
    let all = Array(digits + String(repeating: "0", count: 14 - digits.count))
    func part(_ range: Range<Int>) -> String { String(all[range]) }
    let date = [part(0..<4), part(4..<6), part(6..<8)].joined(separator: "-")
    let clock = [part(8..<10), part(10..<12), part(12..<14)].joined(separator: ":")
    guard let time = Dates.milliseconds(iso8601: "\(date)T\(clock).000Z") else {
      throw LineFault("has the time \(text), which does not exist")
    }
    return time
  }

  private static func isAlgorithm(_ word: String) -> Bool {
    ["ssh-", "ecdsa-", "sk-"].contains(where: word.hasPrefix)
  }

  /// The words of a line; space between quotation marks does not separate them.
  private static func words(of line: String) -> [String] {
    split(line) { $0 == " " || $0 == "\t" }.filter { !$0.isEmpty }
  }

  /// The options of a word, separated by commas outside of quotation marks.
  private static func parts(of word: String) -> [String] { split(word) { $0 == "," } }

  private static func split(_ text: String, at isSeparator: (Character) -> Bool) -> [String] {
    var parts = [""]
    var isQuoted = false
    for character in text {
      if character == "\"" { isQuoted.toggle() }
      if !isQuoted, isSeparator(character) {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }

  private static func unquoted(_ text: String) -> String {
    text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
      ? String(text.dropFirst().dropLast()) : text
  }

  /// The fault of a line.
  struct LineFault: Error {
    /// The end of a sentence about the line.
    let message: String

    init(_ message: String) { self.message = message }
  }
}
