import JSON
import System

/// Replaces what differs between two plays of a history, by rule.
enum GoldenText {
  /// The members of a report with a time by the clock of a run or of this machine.
  private static let times: Set = ["time", "from", "to", "since", "arrivedAt"]

  /// The members of a report's edit that say which edit it is.
  private static let identity: Set = [
    "number", "operation", "store", "soup", "soupEntryId", "user", "sobject", "objectLabel", "name",
    "localId", "link", "return", "platform", "generation", "device", "editedAt", "commands",
  ]

  /// The value without those times.
  ///
  /// The org's clock only moves with writes and steps, so the times of records and of changes on
  /// phones stay.
  static func withoutTimes(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let values): return .array(values.map(withoutTimes))
    case .object(let object):
      return .object(
        JSONObject(
          object.compactMap { name, value in
            isTime(value, in: name) ? nil : (name, withoutTimes(value))
          }))
    default: return value
    }
  }

  /// Whether a member is such a time, as in `2026-01-31T01:00:33.000Z`, or an age.
  private static func isTime(_ value: JSONValue, in name: String) -> Bool {
    if name == "ageDays" { return true }
    return times.contains(name) && value.string.flatMap { Dates.milliseconds(iso8601: $0) } != nil
  }

  static func outcomes(_ reports: [JSONValue]) -> String {
    var outcomes: [Int64: [String]] = [:]
    for report in reports {
      let run = report["run"]?["number"]?.int ?? 0
      for edit in report["records"]?.array ?? [] {
        guard let object = edit.object, let number = edit["number"]?.int else { continue }
        let row = "\(text(edit["soup"])) \(text(edit["soupEntryId"]))"
        let title =
          "edit \(number): \(text(edit["operation"])) of \(row) from \(text(edit["return"]))"
        let detail = JSONObject(object.filter { !identity.contains($0.name) })
        outcomes[number, default: [title]].append("  run \(run): \(JSONValue.object(detail).text)")
      }
    }
    return outcomes.sorted { $0.key < $1.key }.flatMap(\.value).map { $0 + "\n" }.joined()
  }

  private static func text(_ value: JSONValue?) -> String { value?.string ?? value?.text ?? "" }

  static func plain(_ text: String, of world: World) -> String {
    let text = text.replacingOccurrences(of: world.directory.path, with: "DIRECTORY")
      .replacingOccurrences(of: world.server.url, with: "ORG")
    var names = GoldenNames(Array(text.utf8))
    return names.plain()
  }
}

/// Names what is random in a text.
///
/// Runs are named by their number. The digests of files and the keys made from stamps are named in
/// the order of their first occurrence. Session IDs are removed, and values that are too long for
/// the org are abbreviated.
struct GoldenNames {
  private let text: [UInt8]
  private var plainText: [UInt8] = []
  private var digests: [ArraySlice<UInt8>: Int] = [:]
  init(_ text: [UInt8]) { self.text = text }

  mutating func plain() -> String {
    plainText = []
    plainText.reserveCapacity(text.count)
    var place = 0
    while place < text.count { place = copy(from: place) }
    return String(decoding: plainText, as: UTF8.self)
  }

  /// Copies what starts at a place; returns where it ends.
  private mutating func copy(from start: Int) -> Int {
    let byte = text[start]
    if Self.isHexDigit(byte) { return copyDigits(from: start) }
    if byte == UInt8(ascii: "x") {
      let end = end(from: start) { $0 == byte }
      if end - start < 40 {
        plainText += text[start..<end]
      } else {
        plainText += "\(end - start) x".utf8
      }
      return end
    }
    plainText.append(byte)
    let session = "<sessionId>".utf8
    if byte == UInt8(ascii: "<"), text[start...].starts(with: session) {
      plainText += session.dropFirst()
      return end(from: start + session.count) { $0 != byte }
    }
    return start + 1
  }

  private mutating func copyDigits(from start: Int) -> Int {
    let end = end(from: start, while: Self.isHexDigit)
    if end - start >= 32 {
      let number = digests[text[start..<end]] ?? digests.count + 1
      digests[text[start..<end]] = number
      plainText += "digest-\(number)".utf8
      return end
    }
    // A run's ID is its time and its number: 20260131T010033Z-10.
    if end - start == 8, end + 8 < text.count, text[end] == UInt8(ascii: "T"),
      text[end + 7] == UInt8(ascii: "Z"), text[end + 8] == UInt8(ascii: "-")
    {
      plainText += "run-".utf8
      return end + 9
    }
    plainText += text[start..<end]
    return end
  }

  private func end(from start: Int, while isPart: (UInt8) -> Bool) -> Int {
    var end = start
    while end < text.count, isPart(text[end]) { end += 1 }
    return end
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
