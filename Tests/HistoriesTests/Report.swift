import JSON
import Ledger
import System
import TestSupport

/// A run's `report.json`, read as a user's program would.
struct Report: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    var name: String
    var base: String?
    var server: String?
    var device: String?
  }

  struct Row: Sendable, Hashable {
    var number: Int
    var verdict: Verdict
    var operation: String
    var row: RowID
    var file: String
    var recordID: String?
    var otherID: String?
    /// The records of late requests, if there are several.
    var candidates: [String]
    var fields: [Field]
    /// The names of the changed fields that are not sent.
    var outside: [String]
    /// The names of the sent fields in which a record that was found has other values.
    var kept: [String]
    var message: String?
    /// The org's error code.
    var code: String?
  }

  var run: String
  var runNumber: Int
  /// The edits that it lists as new.
  var records: [Row]
  var stillOpen: [Row]
  var counts: [String: Int]
  var edits: Int
  /// Whether it has anything other than edits that needs review.
  var isWaiting: Bool

  var verdicts: [Int: Verdict] {
    (stillOpen + records).reduce(into: [:]) { $0[$1.number] = $1.verdict }
  }

  func row(_ number: Int) -> Row? { (stillOpen + records).last { $0.number == number } }

  /// Reads the report of a run; nil if there is none.
  init?(directory: String) throws {
    let path = directory + "/report.json"
    guard Files.exists(path) else { return nil }
    let value = try JSONValue(parsing: Files.read(path))
    run = value["run"]?["id"]?.string ?? ""
    runNumber = Int(value["run"]?["number"]?.int ?? 0)
    records = try (value["records"]?.array ?? []).map { try Self.row($0) }
    stillOpen = try (value["stillOpen"]?.array ?? []).map { try Self.row($0) }
    edits = Int(value["edits"]?.int ?? -1)
    let findings = ["skippedUsers", "ruleErrors", "guards"].flatMap { value[$0]?.array ?? [] }
    isWaiting = !findings.isEmpty
    counts = [:]
    for (name, count) in value["verdicts"]?.object ?? [:] { counts[name] = Int(count.int ?? 0) }
  }

  /// The first name of a file; a copy that is returned again may be read before it.
  static func original(_ name: String) -> String {
    name.hasPrefix("again-")
      ? name.split(separator: "-", maxSplits: 2).last.map(String.init) ?? name : name
  }

  private static func row(_ value: JSONValue) throws -> Row {
    guard let verdict = value["verdict"]?.string.flatMap({ Verdict(rawValue: $0) }) else {
      throw Violation("a report has an unknown verdict: \(value.text)")
    }
    return Row(
      number: Int(value["number"]?.int ?? 0), verdict: verdict,
      operation: value["operation"]?.string ?? "",
      row: RowID(soup: value["soup"]?.string ?? "", entry: value["soupEntryId"]?.int ?? 0),
      file: Self.original(value["return"]?.string ?? ""), recordID: value["recordId"]?.string,
      otherID: value["otherId"]?.string,
      candidates: (value["candidates"]?.array ?? []).compactMap(\.string),
      fields: (value["fields"]?.array ?? []).map {
        Field(
          name: $0["name"]?.string ?? "", base: $0["base"]?.string, server: $0["server"]?.string,
          device: $0["device"]?.string)
      }, outside: (value["outside"]?.array ?? []).compactMap { $0["name"]?.string ?? $0.string },
      kept: (value["kept"]?.array ?? []).compactMap { $0["name"]?.string },
      message: value["message"]?.string, code: value["code"]?.string)
  }
}
