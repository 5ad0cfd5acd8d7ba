import JSON
import Ledger
import Salesforce

/// An event of a run.
///
/// The terminal's progress, the lines of `--json` and the run's summary are all derived from
/// events. Members of the JSON form may be added, but are never renamed or removed.
package enum RunEvent: Sendable, Equatable {
  /// The run started, or was resumed after an interruption.
  case runStarted(run: String, pipeline: String, resumed: Bool)
  case stageStarted(Stage)
  /// A return was taken and validated, and its edits recorded. Soups that belong to the app were
  /// left alone.
  case returnIngested(
    name: String, snapshot: String, username: String?, edits: Int, new: Int, leftAlone: [String])
  /// A return was already ingested.
  case returnKnown(name: String, username: String?)
  case returnQuarantined(name: String, code: String, reason: String)
  /// A file in the inbox was left there.
  case returnLeft(name: String, code: String, reason: String)
  /// The prime of a snapshot starts, with its index and the total. `requestsLeft` is the remaining
  /// budget.
  case snapshotStarted(
    snapshot: String, username: String, number: Int, of: Int, requestsLeft: Int?)
  /// Records of a soup arrived. `total` is the number that the org announced, if any.
  case soupProgress(snapshot: String, soup: String, fetched: Int, total: Int?)
  case snapshotPrimed(
    snapshot: String, username: String, generation: Int, changed: Bool, soups: [PrimedSoup])
  /// A snapshot could not be primed; the others continue.
  case snapshotSkipped(snapshot: String, username: String, reason: String)
  case bundleWritten(
    snapshot: String, username: String, platform: String, path: String, bytes: Int)
  /// Bundles were published, or objects of pruned generations removed.
  case published(PublishSummary)
  /// Edits were resolved, out of a total.
  case editsSettled(done: Int, of: Int)
  case reportWritten(path: String)
  /// A request is repeated after a pause: attempt number `attempt` of at most `of`.
  case retrying(request: String, reason: String, attempt: Int, of: Int, milliseconds: Int)
  /// A warning that did not stop the run.
  case warning(String)
  /// A stage finished, with its cost.
  case stageFinished(StageCost)
  /// The items that need review at the end of a run, including those of earlier runs: open edits,
  /// and findings.
  case leftOpen(edits: [Verdict: Int], findings: [Finding.Kind: Int])
}

extension RunEvent {
  /// The event for an event of the org; nil if a run does not report it.
  init?(_ event: OrgEvent) {
    guard case .retrying(let request, let reason, let attempt, let most, let pause, _) = event
    else { return nil }
    self = .retrying(
      request: request, reason: reason, attempt: attempt, of: most, milliseconds: pause)
  }
}

/// The effect of a prime on one soup of a snapshot.
package struct PrimedSoup: Sendable, Equatable {
  package var soup: String
  /// The records received from the org.
  package var fetched: Int
  /// The new or changed records that were written.
  package var written: Int
  /// The records received unchanged, from the overlap window.
  package var unchanged: Int
  /// The records removed from the soup, because the org no longer shows them to this user.
  package var removed: Int
  /// The records in the soup now.
  package var total: Int

  package init(
    soup: String, fetched: Int, written: Int, unchanged: Int, removed: Int, total: Int
  ) {
    (self.soup, self.fetched, self.written) = (soup, fetched, written)
    (self.unchanged, self.removed, self.total) = (unchanged, removed, total)
  }
}

extension RunEvent {
  /// The event as one JSON object; its `type` names the event.
  package var json: JSONValue {
    switch self {
    case .runStarted(let run, let pipeline, let resumed):
      event(
        "runStarted",
        ["run": .string(run), "pipeline": .string(pipeline), "resumed": .bool(resumed)])
    case .stageStarted(let stage): event("stageStarted", ["stage": .string(stage.rawValue)])
    case .stageFinished(let cost): event("stageFinished", cost.json.object ?? [:])
    case .leftOpen(let edits, let findings):
      event(
        "leftOpen", ["edits": Verdict.counts(edits), "findings": Finding.Kind.counts(findings)])
    case .snapshotStarted(let snapshot, let username, let count, let total, let left):
      event(
        "snapshotStarted",
        [
          "snapshot": .string(snapshot), "username": .string(username), "number": JSONValue(count),
          "of": JSONValue(total),
        ], requestsLeft: left)
    case .returnIngested(let name, let snapshot, _, let edits, let new, let leftAlone):
      event(
        "returnIngested",
        [
          "name": .string(name), "snapshot": .string(snapshot), "edits": JSONValue(edits),
          "new": JSONValue(new), "leftAlone": JSONValue(leftAlone),
        ])
    case .returnKnown(let name, _): event("returnKnown", ["name": .string(name)])
    case .returnQuarantined(let name, let code, let reason):
      event(
        "returnQuarantined",
        ["name": .string(name), "code": .string(code), "reason": .string(reason)])
    case .returnLeft(let name, let code, let reason):
      event(
        "returnLeft", ["name": .string(name), "code": .string(code), "reason": .string(reason)])
    case .soupProgress(let snapshot, let soup, let fetched, let total):
      event(
        "soupProgress",
        [
          "snapshot": .string(snapshot), "soup": .string(soup), "fetched": JSONValue(fetched),
          "total": total.map { JSONValue($0) } ?? .null,
        ])
    case .snapshotPrimed(let snapshot, let username, let generation, let changed, let soups):
      event(
        "snapshotPrimed",
        [
          "snapshot": .string(snapshot), "username": .string(username),
          "generation": JSONValue(generation), "changed": .bool(changed),
          "soups": .array(soups.map(\.json)),
        ])
    case .snapshotSkipped(let snapshot, let username, let reason):
      event(
        "snapshotSkipped",
        ["snapshot": .string(snapshot), "username": .string(username), "reason": .string(reason)])
    case .bundleWritten(let snapshot, _, let platform, let path, let bytes):
      event(
        "bundleWritten",
        [
          "snapshot": .string(snapshot), "platform": .string(platform), "path": .string(path),
          "bytes": JSONValue(bytes),
        ])
    case .published(let summary): event("published", summary.json().object ?? [:])
    case .editsSettled(let done, let total):
      event("editsSettled", ["done": JSONValue(done), "of": JSONValue(total)])
    case .reportWritten(let path): event("reportWritten", ["path": .string(path)])
    case .retrying(let request, let reason, let attempt, let most, let milliseconds):
      event(
        "retrying",
        [
          "request": .string(request), "reason": .string(reason), "attempt": JSONValue(attempt),
          "of": JSONValue(most), "milliseconds": JSONValue(milliseconds),
        ])
    case .warning(let text): event("warning", ["message": .string(text)])
    }
  }

  private func event(
    _ type: String, _ members: JSONObject, requestsLeft: Int? = nil
  ) -> JSONValue {
    var object: JSONObject = ["type": .string(type)]
    for (name, value) in members { object[name] = value }
    object["requestsLeft"] = requestsLeft.map { JSONValue($0) }
    return .object(object)
  }
}

extension PrimedSoup {
  package var json: JSONValue {
    var object = JSONObject()
    object["soup"] = .string(soup)
    for (name, value) in [
      ("fetched", fetched), ("written", written), ("unchanged", unchanged), ("removed", removed),
      ("total", total),
    ] {
      object[name] = .number(String(value))
    }
    return .object(object)
  }
}

extension Verdict {
  /// The counts as one JSON object; null if there are none.
  static func counts(_ counts: [Verdict: Int]) -> JSONValue {
    .counts(allCases.map { ($0.rawValue, counts[$0]) })
  }
}

extension Finding.Kind {
  /// The counts as one JSON object; null if there are none.
  static func counts(_ counts: [Finding.Kind: Int]) -> JSONValue {
    .counts(allCases.map { ($0.rawValue, counts[$0]) })
  }
}

extension JSONValue {
  fileprivate static func counts(_ counts: [(name: String, count: Int?)]) -> JSONValue {
    var object = JSONObject()
    for case (let name, let count?) in counts where count > 0 { object[name] = JSONValue(count) }
    return .object(object)
  }
}
