import JSON
import MobileSync
import System

/// The outcome of one sync of `attache sync run`.
struct SyncOutcome: Sendable {
  /// The final state of the sync.
  var state: SyncState
  var report: SyncReport
  /// The number of ghosts removed; nil if not requested.
  var ghosts: Int?
  /// The warnings.
  var warnings: [String] = []
  /// Whether the guard kept ghosts.
  var isGuarded = false

  var name: String { state.name ?? "\(state.id)" }

  /// The changes that are still in the store, and those with an unknown outcome.
  var open: [SyncReport.Record] { report.records.filter(\.isOpen) }

  /// Whether the outcome needs review.
  var needsAttention: Bool { !open.isEmpty || isGuarded || !report.unreadable.isEmpty }

  /// The outcome as one line.
  var line: String {
    var parts: [String] = []
    func add(_ count: Int, _ word: String) {
      if count > 0 { parts.append("\(count) \(word)") }
    }
    if state.type == .syncDown {
      parts.append(CountText.of(report.fetched, "record"))
      add(report.written, "written")
      add(report.unchanged, "unchanged")
      add(report.skipped.values.reduce(0) { $0 + $1.count }, "not overwritten (unsent changes)")
      add(
        report.overwritten.values.reduce(0) { $0 + $1.count }, "overwritten (unsent changes lost)")
      add(report.unreadable.values.reduce(0) { $0 + $1.count }, "not readable")
      add(ghosts ?? 0, "removed")
    } else {
      parts.append(CountText.of(report.records.count, "change"))
      for (word, count) in counts { add(count, word) }
    }
    return "\(name): " + parts.joined(separator: ", ")
  }

  /// The number of changes by outcome.
  private var counts: [(String, Int)] {
    var counts: [(String, Int)] = []
    for record in report.records {
      let word = record.outcome.word
      if let place = counts.firstIndex(where: { $0.0 == word }) {
        counts[place].1 += 1
      } else {
        counts.append((word, 1))
      }
    }
    return counts
  }

  /// The sync's part of the summary.
  var json: JSONValue {
    var object: JSONObject = [
      "name": .string(name), "syncId": JSONValue(state.id),
      "syncType": .string(state.type.rawValue), "soupName": .string(state.soupName),
      "status": .string(state.status.rawValue), "totalSize": JSONValue(state.totalSize),
      "fetched": JSONValue(report.fetched), "written": JSONValue(report.written),
      "unchanged": JSONValue(report.unchanged), "skipped": Self.json(report.skipped),
      "overwritten": Self.json(report.overwritten), "unreadable": Self.json(report.unreadable),
      "records": .array(report.records.map(\.json)),
    ]
    if let ghosts { object["ghosts"] = JSONValue(ghosts) }
    return .object(object)
  }

  private static func json(_ ids: [String: [String]]) -> JSONValue {
    var object = JSONObject()
    for soup in ids.keys.sorted() { object[soup] = JSONValue(ids[soup] ?? []) }
    return .object(object)
  }
}

extension SyncReport.Record {
  /// Whether the change is still in the store, or its outcome is unknown.
  var isOpen: Bool {
    switch outcome {
    case .sent, .recreated, .removed: false
    case .left, .failed, .unconfirmed: true
    }
  }

  /// The reason; if the org refused the change, the org's message.
  var reason: String {
    switch outcome {
    case .sent, .recreated, .removed: ""
    case .left(.changedOnServer): "the org's record is newer"
    case .left(.deletedOnServer): "the org's record is deleted"
    case .left(.serverUnknown): "the org's record could not be read"
    case .failed(let code, let message): code.isEmpty ? message : "\(code): \(message)"
    case .unconfirmed(let reason): reason
    }
  }

  /// One row of the table.
  var row: [String] {
    [soupName, "\(soupEntryID)", id ?? "", operation.rawValue, outcome.word, reason]
  }

  /// The JSON form in the summary.
  var json: JSONValue {
    var object: JSONObject = [
      "soupName": .string(soupName), "soupEntryId": JSONValue(soupEntryID),
      "id": id.map(JSONValue.string) ?? .null, "operation": .string(operation.rawValue),
      "outcome": .string(outcome.word),
    ]
    if case .failed(let code, let message) = outcome {
      object["code"] = .string(code)
      object["message"] = .string(message)
    } else if isOpen {
      object["reason"] = .string(reason)
    }
    return .object(object)
  }
}

extension SyncReport.Record.Outcome {
  /// The outcome of the change in one or two words.
  var word: String {
    switch self {
    case .sent: "sent"
    case .recreated: "recreated"
    case .removed: "removed"
    case .left: "left"
    case .failed: "failed"
    case .unconfirmed: "unconfirmed"
    }
  }
}
