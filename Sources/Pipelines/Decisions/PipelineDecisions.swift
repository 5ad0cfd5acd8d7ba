import JSON
import Ledger
import MobileSync
import Reconciliation
import Reports
import System

/// The decisions about a pipeline's edits.
///
/// The command line, the CSV import and the review page all use this type.
///
/// A decision is written to the ledger under the run's lock. The next reconciliation applies it;
/// `RunOptions.only` applies it at once, to these edits alone.
package struct PipelineDecisions: Sendable {
  /// An edit that waits for a decision or another run, with what an operator needs to decide it.
  package struct Open: Sendable {
    /// The edit with its last verdict and the values of all sides.
    package var edit: ReportEdit
    /// A decision that is recorded and not applied yet.
    package var pending: PendingDecision?
  }

  /// A choice for many edits, applied to each edit that permits it.
  package struct Selection: Sendable {
    /// Selects the open edits with one of these verdicts, except those with another operator's
    /// pending decision.
    package var verdicts: Set<Verdict> = []
    /// Selects edits by number.
    package var edits: [Int64] = []
    package var choice: DecisionRequest.Choice

    /// Selects the open edits with one of some verdicts.
    package init(_ verdicts: Set<Verdict>, _ choice: DecisionRequest.Choice) {
      (self.verdicts, self.choice) = (verdicts, choice)
    }

    /// Selects edits by number.
    package init(edits: [Int64], _ choice: DecisionRequest.Choice) {
      (self.edits, self.choice) = (edits, choice)
    }
  }

  /// The outcome of recording decisions.
  package struct Result: Sendable {
    /// The recorded decisions, in the order of the requests.
    package var decided: [PendingDecision] = []
    /// The edits of a selection that do not permit the choice, each with the reason.
    package var refused: [DecisionRefusal] = []
    /// Pending decisions of other operators that these replace.
    package var replaced: [PendingDecision] = []
  }

  let pipeline: Pipeline
  let root: String
  let data: DataDirectory

  /// Opens the decisions of a pipeline; `root` is the directory that holds `<pipeline>/`.
  package init(_ pipeline: Pipeline, root: String) {
    self.pipeline = pipeline
    self.root = root
    data = DataDirectory(root: root, name: pipeline.name)
  }

  /// How values are masked for display.
  package var shown: ReportMask { pipeline.report.reportMask }

  /// Returns the open edits in the order of their arrival.
  package func open() throws -> [Open] {
    guard let ledger = try data.ledgerIfThere() else { return [] }
    defer { ledger.close() }
    let decided = Set(try ledger.editNumbers(.decided))
    return try ledger.reportEdits(.unsettled).map { edit in
      let isDecided = decided.contains(edit.number)
      return Open(
        edit: edit, pending: isDecided ? try ledger.decidable(edit.number)?.pending : nil)
    }
  }

  /// Returns edits by number, open or not.
  ///
  /// Edits that never had a verdict are left out.
  package func edits(_ numbers: [Int64]) throws -> [ReportEdit] {
    guard let ledger = try data.ledgerIfThere() else { return [] }
    defer { ledger.close() }
    return try numbers.parts(of: ReportEdits.batch).flatMap {
      try ledger.reportEdits(.numbered(Array($0)))
    }
  }

  /// Returns the org's labels and record names; nil if there is no ledger yet.
  package func names() throws -> OrgNames? {
    guard let ledger = try data.ledgerIfThere() else { return nil }
    defer { ledger.close() }
    return try OrgNames(ledger)
  }

  /// Records decisions.
  ///
  /// Requests for single edits are recorded all together or not at all; a selection, as far as its
  /// edits permit. With `asFarAsPossible`, refused requests are left out in both cases.
  ///
  /// With `isDryRun`, nothing is recorded, and the decisions that would be are returned. Throws a
  /// `PipelineError` that names every refused request.
  package func enter(
    _ requests: [DecisionRequest], _ selection: Selection? = nil, by name: String,
    isDryRun: Bool = false, asFarAsPossible: Bool = false
  ) throws -> Result {
    guard Files.exists(data.state) else { throw noLedger }
    let lock = try PipelineRun.takeLock(data, exclusive: !isDryRun)
    defer { lock.close() }
    let ledger = try data.openLedger(under: lock)
    defer { ledger.close() }
    try LedgerCheck.checkLedger(ledger, data)
    let fields = try SendableFields(pipeline)
    var result = Result()
    var refusals: [DecisionRefusal] = []
    let described = try described(requests, ledger)
    for request in requests {
      do throws(DecisionRefusal) {
        if let edit = described[request.edit] { try request.check(of: edit, shown) }
        result.decided.append(try prepare(request, ledger, fields))
      } catch {
        refusals.append(error)
      }
    }
    if asFarAsPossible {
      result.refused = refusals
    } else if !refusals.isEmpty {
      throw refused(refusals)
    }
    if let selection {
      let named = Set(requests.map(\.edit))
      let byNumber = Set(selection.edits)
      let chosen = try selection.edits + ledger.editNumbers(.open(selection.verdicts))
      for edit in chosen where !named.contains(edit) {
        if !byNumber.contains(edit), let waiting = try ledger.decidable(edit)?.pending,
          waiting.by != name
        {
          result.refused.append(DecisionRefusal(edit, waiting.waitingWords))
          continue
        }
        do throws(DecisionRefusal) {
          result.decided.append(
            try prepare(DecisionRequest(edit: edit, selection.choice), ledger, fields))
        } catch {
          result.refused.append(error)
        }
      }
    }
    for edit in result.decided.map(\.edit) {
      guard let waiting = try ledger.decidable(edit)?.pending, waiting.by != name else { continue }
      result.replaced.append(waiting)
    }
    if !isDryRun { try ledger.decide(result.decided, by: name) }
    return result
  }

  /// Returns the edits that a run must process to apply decisions: the decided edits, and the edits
  /// of the pipeline that wait for a record which the decided ones may create.
  package func affected(by decided: [Int64]) throws -> Set<Int64> {
    let ledger = try data.openLedger()
    defer { ledger.close() }
    return Set(decided).union(try ledger.editNumbers(.open([.blocked])))
  }

  /// The requests of a file that identify the edit by more than its number.
  private func described(
    _ requests: [DecisionRequest], _ ledger: LedgerDatabase
  ) throws -> [Int64: ReportEdit] {
    let numbers = requests.filter { !$0.descriptions.isEmpty || !$0.device.isEmpty }.map(\.edit)
    var edits: [Int64: ReportEdit] = [:]
    for part in numbers.parts(of: ReportEdits.batch) {
      for edit in try ledger.reportEdits(.numbered(Array(part))) { edits[edit.number] = edit }
    }
    return edits
  }

  private func prepare(
    _ request: DecisionRequest, _ ledger: LedgerDatabase, _ fields: SendableFields
  ) throws(DecisionRefusal) -> PendingDecision {
    do {
      guard var found = try ledger.decidable(request.edit) else {
        throw DecisionRefusal.unknown(request.edit)
      }
      if let seen = request.seen {
        guard found.subject.verdict == seen.verdict, found.detail.codes == seen.codes else {
          throw DecisionRefusal(request.edit, "a run has processed it since; look at it again")
        }
        found.detail.fields = seen.fields
      }
      let kind = request.kind
      if let words = DecisionRule.refusal(kind, of: found.subject) {
        throw DecisionRefusal(request.edit, words)
      }
      let decision = try request.decision(
        for: found, sendable: fields.names(of: found), shown)
      if let words = found.refusal(of: decision) {
        throw DecisionRefusal(request.edit, words)
      }
      return PendingDecision(request.edit, decision, seen: request.seen?.fields)
    } catch let error as DecisionRefusal {
      throw error
    } catch {
      throw DecisionRefusal(request.edit, PipelineError(describing: error).message)
    }
  }

  // MARK: errors

  /// The message if nothing has run in the data directory; nil if there is a ledger.
  package var nothingRan: String? {
    Files.exists(data.state) ? nil : "nothing has run in \(data.path)"
  }

  private var noLedger: PipelineError {
    PipelineError(
      .configuration, "decide.no-ledger", "\(pipeline.name) has no edits: it never ran",
      location: data.state, fix: "attache run \(pipeline.called) ingests returns")
  }

  private func refused(_ refusals: [DecisionRefusal]) -> PipelineError {
    let most = 20
    var words = refusals.prefix(most).map(\.description).joined(separator: "; ")
    if refusals.count > most { words += "; and \(refusals.count - most) more" }
    return PipelineError(
      .configuration, "decide.refused", "no decision was recorded", reason: words,
      fix:
        "attache decide \(pipeline.called) --list shows the open edits and the possible decisions")
  }
}

extension DecisionRequest {
  /// The kind of the decision, without its values.
  package var kind: Decision.Kind {
    switch choice {
    case .whole(let decision): decision.kind
    case .fields: .set
    }
  }
}

/// The fields that a pipeline's sync ups send, by soup.
private struct SendableFields {
  private var updates: [SoupKey: Set<String>] = [:]
  private var creates: [SoupKey: Set<String>] = [:]

  init(_ pipeline: Pipeline) throws {
    for rule in try ReconcileStage.rules(of: pipeline) {
      updates[rule.soup, default: []].formUnion(rule.sentFields(of: .update))
      creates[rule.soup, default: []].formUnion(rule.sentFields(of: .create))
    }
  }

  func names(of edit: DecisionFacts) -> Set<String> {
    (edit.subject.hasRecord ? updates : creates)[edit.soup] ?? []
  }
}
