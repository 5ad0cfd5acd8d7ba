import JSON
import Ledger
import MobileSync
import Reconciliation
import System

/// What people decide about the edits of a pipeline: the entry points of every surface that asks them.
///
/// A decision is entered into the ledger under the run's lock. The next reconciliation carries it out,
/// or one of these edits alone, at once (`RunOptions.only`).
package struct PipelineDecisions: Sendable {
  /// An edit that waits for something, as somebody who decides sees it.
  package struct Open: Sendable {
    /// The edit with its last verdict and the values of all sides.
    package var edit: ReportEdit
    /// What was decided already and is not carried out yet.
    package var pending: PendingDecision?
  }

  /// Edits of which each is decided as far as that is possible.
  package struct Selection: Sendable {
    /// Those that have one of these verdicts; a colleague's decision about one stays.
    package var verdicts: Set<Verdict> = []
    /// Those of these numbers.
    package var edits: [Int64] = []
    /// What is decided about each.
    package var choice: DecisionRequest.Choice

    /// The open edits of some verdicts.
    package init(_ verdicts: Set<Verdict>, _ choice: DecisionRequest.Choice) {
      (self.verdicts, self.choice) = (verdicts, choice)
    }

    /// Edits by their numbers.
    package init(edits: [Int64], _ choice: DecisionRequest.Choice) {
      (self.edits, self.choice) = (edits, choice)
    }
  }

  /// A decision of somebody else that waited.
  package struct Replaced: Sendable {
    /// The edit's number.
    package var edit: Int64
    /// What was decided about it.
    package var pending: PendingDecision
  }

  /// What was entered.
  package struct Result: Sendable {
    /// What was decided, in the order in which it was asked.
    package var decided: [EditDecision] = []
    /// Edits of a selection that cannot be decided so, and why.
    package var refused: [DecisionRefusal] = []
    /// Decisions of others that waited and whose place these take.
    package var replaced: [Replaced] = []
  }

  let pipeline: Pipeline
  let root: String
  let data: DataDirectory

  /// The decisions of a pipeline; `root` is the directory that holds `<pipeline>/`.
  package init(_ pipeline: Pipeline, root: String) {
    self.pipeline = pipeline
    self.root = root
    data = DataDirectory(root: root, name: pipeline.name)
  }

  /// How values are shown to whoever decides.
  package var shown: ReportMask { pipeline.report.reportMask }

  /// The edits that wait for something, in order of arrival.
  package func open() throws -> [Open] {
    guard let ledger = try data.ledgerIfThere() else { return [] }
    defer { ledger.close() }
    let decided = Set(try ledger.decidedEdits())
    return try ledger.unsettledEditList().map { edit in
      let isDecided = decided.contains(edit.number)
      return Open(
        edit: edit, pending: isDecided ? try ledger.pendingDecision(of: edit.number) : nil)
    }
  }

  /// Edits by their numbers, open or not; one that never had a verdict is missing.
  package func edits(_ numbers: [Int64]) throws -> [ReportEdit] {
    guard let ledger = try data.ledgerIfThere() else { return [] }
    defer { ledger.close() }
    return try numbers.parts(of: ReportEdits.batch).flatMap {
      try ledger.reportEdits(numbers: Array($0))
    }
  }

  /// What people call the things of the org; nil while there is no ledger.
  package func names() throws -> OrgNames? {
    guard let ledger = try data.ledgerIfThere() else { return nil }
    defer { ledger.close() }
    return try OrgNames(ledger)
  }

  /// Enters decisions: what is asked of single edits as a whole or not at all, of a selection as far as it
  /// is possible; `asFarAsPossible` makes no such difference, and leaves out what is refused.
  ///
  /// With `isDryRun` nothing is entered; what would be is returned. Throws `PipelineError` that names
  /// every request that is refused.
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
      let chosen = try selection.edits + ledger.editsToDecide(selection.verdicts)
      for edit in chosen where !named.contains(edit) {
        if !byNumber.contains(edit), let waiting = try ledger.pendingDecision(of: edit),
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
      guard let waiting = try ledger.pendingDecision(of: edit), waiting.by != name else { continue }
      result.replaced.append(Replaced(edit: edit, pending: waiting))
    }
    if !isDryRun { try ledger.decide(result.decided, by: name) }
    return result
  }

  /// The edits that a run has to take up to carry decisions out: those that were decided, and those of
  /// the pipeline that wait for a record which they may make.
  package func affected(by decided: [Int64]) throws -> Set<Int64> {
    let ledger = try data.openLedger()
    defer { ledger.close() }
    return Set(decided).union(try ledger.editsToDecide([.blocked]))
  }

  /// The edits of which a file says more than the number.
  private func described(
    _ requests: [DecisionRequest], _ ledger: LedgerDatabase
  ) throws -> [Int64: ReportEdit] {
    let numbers = requests.filter { !$0.descriptions.isEmpty || !$0.device.isEmpty }.map(\.edit)
    var edits: [Int64: ReportEdit] = [:]
    for part in numbers.parts(of: ReportEdits.batch) {
      for edit in try ledger.reportEdits(numbers: Array(part)) { edits[edit.number] = edit }
    }
    return edits
  }

  private func prepare(
    _ request: DecisionRequest, _ ledger: LedgerDatabase, _ fields: SendableFields
  ) throws(DecisionRefusal) -> EditDecision {
    do {
      guard var found = try ledger.decidable(request.edit) else {
        throw DecisionRefusal.unknown(request.edit)
      }
      if let seen = request.seen {
        guard found.subject.verdict == seen.verdict, found.detail.limit == seen.limit else {
          throw DecisionRefusal(request.edit, "a run has taken it up since; look at it again")
        }
        found.detail.fields = seen.fields
      }
      let kind = request.kind
      if let words = DecisionRule.refusal(kind, of: found.subject) {
        throw DecisionRefusal(request.edit, words)
      }
      let decision = try request.decision(
        for: found, sendable: fields.names(of: found), shown)
      if let words = try ledger.refusal(decision, of: found) {
        throw DecisionRefusal(request.edit, words)
      }
      return EditDecision(request.edit, decision, seen: request.seen?.fields)
    } catch let error as DecisionRefusal {
      throw error
    } catch {
      throw DecisionRefusal(request.edit, PipelineError(describing: error).message)
    }
  }

  // MARK: errors

  private var noLedger: PipelineError {
    PipelineError(
      .configuration, "decide.no-ledger", "\(pipeline.name) has no edits: it never ran",
      location: data.state, fix: "attache run \(pipeline.called) takes in what came back")
  }

  private func refused(_ refusals: [DecisionRefusal]) -> PipelineError {
    let most = 20
    var words = refusals.prefix(most).map(\.description).joined(separator: "; ")
    if refusals.count > most { words += "; and \(refusals.count - most) more" }
    let isUnknown = refusals.contains { $0 == .unknown($0.edit) }
    return PipelineError(
      isUnknown ? .usage : .configuration, "decide.refused", "nothing was decided", reason: words,
      fix: "attache decide \(pipeline.called) --list shows what is open, and what may be decided")
  }
}

extension DecisionRequest {
  /// What is asked, without its values.
  package var kind: Decision.Kind {
    switch choice {
    case .whole(let decision): decision.kind
    case .fields: .set
    }
  }
}

/// The names of the fields that the sync ups of a pipeline send, by soup.
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
