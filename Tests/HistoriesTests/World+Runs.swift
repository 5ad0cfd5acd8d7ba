import JSON
import Ledger
import Pipelines
import SQLite
import System
import TestSupport

struct RunResult: Sendable {
  var step: Int
  var verb: Step.Verb
  var id: String?
  /// Its exit status; nil if it was killed.
  var status: Int32?
  var failure: String?
  var report: Report?
  var writes = 0
  /// Whether a fault occurred.
  var isStruck = false
}

extension World {
  /// Runs a command with its fault, and checks what it did.
  @discardableResult func run(_ verb: Step.Verb, _ mishap: Mishap?) async throws -> Bool {
    guard let options = try options(verb) else { return false }
    // Whatever the run's result is, a later run may apply the undo.
    if let undo = options.undo { book.askedToUndo.formUnion(undo.edits.map { Int($0) }) }
    // A write in the second in which a bundle was made cannot be recognized as later.
    try org.moveClock(by: 1000)
    _ = watch.takeTransitions()
    watch.look(.pipeline)
    let foretold = try await foretell(verb, mishap, options)
    let strike = Strike(mishap, self)
    let began = org.now()
    if let heldSince, began > heldSince + Int64(setup.quietSeconds) * 1000 + 60_000,
      ![.ingest, .pack].contains(verb)
    {
      isHeldSettled = true
    }
    strike.arm()
    let ended = await Self.execute(pipeline, root, variables, options, strike)
    // A repeated request of the killed process may still be on its way.
    if strike.isKilled { server.expireSessions() }
    server.faults.removeAll()
    if let failure = strike.failure { throw Violation(failure) }
    if strike.isKilled { root = strike.copy }
    book.noteApplied(by: org.now())
    if strike.mishap?.kind == .lateRequest, strike.isStruck, heldSince == nil { heldSince = began }
    watch.look(.pipeline)
    if !strike.isStruck, ended.failure == nil, ![.ingest, .pack].contains(verb) {
      reconciledAt = began
    }
    var result = RunResult(step: step, verb: verb, id: strike.run, isStruck: strike.isStruck)
    result.writes = strike.writes
    if let mishap = strike.mishap, strike.isStruck { tally.add(mishap.kind, to: "mishaps") }
    if strike.isKilled {
      try book.judgeWrites(in: self)
      if let work = mishap?.then { _ = try changeOrg(work) }
      runs.append(result)
      return true
    }
    try noteBundles()
    try judgeIssued()
    result.status = ended.status
    result.failure = ended.failure
    if let id = strike.run { result.report = try Report(directory: data.reports + "/" + id) }
    runs.append(result)
    try book.judge(result, in: self)
    if let foretold, !result.isStruck { try judge(foretold, result) }
    return true
  }

  /// The prediction of a dry run before a run without faults, in every third history.
  private func foretell(
    _ verb: Step.Verb, _ mishap: Mishap?, _ options: RunOptions
  ) async throws -> [Int: Verdict]? {
    guard foretells, mishap == nil, verb != .pack, history.seed % Self.foretold == 0,
      !runs.isEmpty
    else { return nil }
    var options = options
    options.isDryRun = true
    do {
      let look = try await PipelineRun.execute(
        pipeline, root: root, variables: variables, options: options, report: { _ in })
      return Dictionary(uniqueKeysWithValues: look.planned.map { (Int($0.editID), $0.verdict) })
    } catch { throw Violation("a dry run of \(verb) failed: \(PipelineError(describing: error))") }
  }

  /// In one of how many histories there is a dry run before every run.
  private static let foretold: UInt64 = CampaignSize.Scale.current == .soak ? 1 : 3

  private func judge(_ foretold: [Int: Verdict], _ result: RunResult) throws {
    guard let status = result.status, [0, 3].contains(status), result.verb != .ingest else {
      return
    }
    // An edit with the same state as in an earlier report is not reported again.
    let verdicts = result.report?.verdicts ?? [:]
    let news = Set((result.report?.records ?? []).map(\.number))
    for number in news.union(foretold.keys).sorted() where foretold[number] != verdicts[number] {
      let row = result.report?.row(number)
      // Only the org knows whether another record has a unique value of a new or recreated one.
      if verdicts[number] == .failed, row?.code == "DUPLICATE_VALUE" { continue }
      // Nor is it known whether its user still sees the record that a new record refers to.
      if verdicts[number] == .failed, let row,
        let file = book.returned.first(where: { $0.file == row.file }),
        let parent = file.rows[row.row]?.parent,
        try !isVisible(account: parent, to: phones[file.phone].username)
      {
        continue
      }
      throw Violation(
        "a dry run of \(result.verb) predicted \(foretold[number]?.rawValue ?? "nothing") for edit "
          + "\(number), but it became \(verdicts[number]?.rawValue ?? "nothing")")
    }
  }

  private func isVisible(account: String, to username: String) throws -> Bool {
    guard let user = org.user(named: username) else { return false }
    let page = try org.query("SELECT Id FROM Account WHERE Id = '\(account)'", as: user)
    return try JSONValue(parsing: page.records).array?.isEmpty == false
  }

  private func noteBundles() throws {
    for name in ["ada", "ben"] {
      guard let user = org.user(named: name + "@example.com"),
        let generation = try data.generations(of: user.id).last
      else { continue }
      let place = data.generation(generation, of: user.id)
      for file in try Files.list(place) where file.contains(".bundle.") {
        let path = place + "/" + file
        if bundles[path] == nil { bundles[path] = (org.now(), runs.count + 1) }
      }
    }
  }

  private func options(_ verb: Step.Verb) throws -> RunOptions? {
    var options = RunOptions()
    options.retryPause = .none
    switch verb {
    case .all: break
    case .ingest: options.stages = [.ingest]
    case .reconcile: options.stages = [.ingest, .reconcile]
    case .pack: options.stages = [.pack]
    case .retry(let pick):
      let ids = Array(Set(runs.compactMap(\.id))).sorted()
      guard !ids.isEmpty else { return nil }
      options.stages = [.reconcile]
      try retry(run: ids[pick % ids.count])
    case .undo(let back):
      guard var undo = try undo(back) else { return nil }
      undo.retryPause = options.retryPause
      return undo
    }
    return options
  }

  /// Decides that the open edits of a run are retried, as `decide --retry` does.
  private func retry(run: String) throws {
    guard Files.exists(data.state) else { return }
    let ledger = try Connection(data.state, mode: .readOnly)
    defer { ledger.close() }
    let verdicts = [Verdict.failed, .blocked, .notVisible, .conflict].map {
      SQLiteValue.text($0.rawValue)
    }
    let edits = try ledger.all(
      """
      SELECT e.id FROM edit e JOIN outcome x ON x.edit_id = e.id
      WHERE x.run_id = \(run) AND e.verdict IN (\(list: verdicts)) ORDER BY e.id
      """
    ).compactMap { $0[0].integer }
    do {
      let result = try PipelineDecisions(pipeline, root: root).enter(
        [], PipelineDecisions.Selection(edits: edits, .whole(.retry)), by: "grace")
      book.noteSeen(result.decided.map { Int($0.edit) }, in: self)
    } catch is PipelineError {
      // The run that follows reports what is wrong with the ledger.
    }
  }

  /// The options to undo one of the runs so far; nil if it changed nothing, or cannot be undone.
  private func undo(_ back: Int) throws -> RunOptions? {
    var ids: [String] = []
    for id in runs.reversed().compactMap(\.id) where !ids.contains(id) { ids.append(id) }
    if ids.isEmpty { return nil }
    let undoing = PipelineUndo(pipeline, root: root)
    do {
      let plan = try undoing.plan(run: ids[back % ids.count])
      return plan.edits.isEmpty ? nil : undoing.runOptions(plan, by: "grace", isDryRun: false)
    } catch let error as PipelineError
      where ["undo.no-run", "undo.not-over", "undo.of-undo"].contains(error.code)
    { return nil }
  }

  private static func execute(
    _ pipeline: Pipeline, _ root: String, _ variables: [String: String], _ options: RunOptions,
    _ strike: Strike
  ) async -> (status: Int32?, failure: String?) {
    let task = Task { () -> (Int32?, String?) in
      do {
        let summary = try await PipelineRun.execute(
          pipeline, root: root, variables: variables, options: options, report: { strike.note($0) })
        return (summary.exitStatus.rawValue, nil)
      } catch {
        let described = PipelineError(describing: error)
        return (described.kind.exitStatus.rawValue, "\(described)")
      }
    }
    strike.take(task)
    return await task.value
  }

  func deliver() throws -> Bool {
    guard server.heldRequests > 0 else { return false }
    watch.look(.pipeline)
    let before = Dictionary(uniqueKeysWithValues: watch.records.map { ($0.id, $0) })
    let dates = try watch.dates()
    server.deliverHeld()
    watch.look(.pipeline)
    // It may have written the values that are already there.
    for (id, date) in try watch.dates() where dates[id] != date { book.touchedLate.insert(id) }
    // It arrives when no run can prevent it; the next run has to find what it overwrote.
    let lastRun = book.orderedReports.last?.runNumber ?? 0
    var known: OrgWatch.FieldID?
    for transition in watch.takeTransitions() {
      book.late.insert(transition.field)
      if transition.author == .pipeline, let reconciledAt, transition.oldTime ?? .max < reconciledAt
      {
        book.stoodBefore[transition.field] = transition
      }
      guard isHeldSettled, transition.author == .pipeline, let heldSince,
        transition.oldTime ?? 0 > heldSince
      else { continue }
      let kind = LateEffect.Kind.replaced(field: transition.field.field, by: transition.new)
      book.note(kind, of: transition.field.record, after: lastRun, in: self)
      if transition.oldAuthor == .pipeline { known = transition.field }
    }
    for record in watch.records where isHeldSettled {
      if before[record.id] == nil {
        book.note(.made, of: record.id, after: lastRun, in: self)
      } else if record.isDeleted, before[record.id]?.isDeleted == false {
        book.touchedLate.insert(record.id)
        // With its account, which is reported.
        if let parent = record.parent, before[parent]?.isDeleted == false,
          watch.record(parent)?.isDeleted == true
        {
          continue
        }
        book.note(.deleted, of: record.id, after: lastRun, in: self)
      }
    }
    (heldSince, isHeldSettled) = (nil, false)
    book.known.formUnion(watch.records.map(\.id))
    book.lateRecords.formUnion(watch.records.map(\.id))
    // The golden histories stay as they are.
    if let known, trace == nil, step.isMultiple(of: 2) { try changeBeside(known) }
    return true
  }

  /// Another user changes the record of a held request, and a run reads it, before that arrives.
  func changeBeforeArrival() async throws {
    // The golden histories stay as they are.
    guard trace == nil, isHeldSettled, server.heldRequests > 0, step.isMultiple(of: 3) else {
      return
    }
    let change = OrgChange(action: .update(field: step), target: .ofPhone, isSameSecond: false)
    if try changeOrg(change) { try await run(.reconcile, nil) }
  }

  /// Another user changes another field of a record before the next run, which hides nothing.
  private func changeBeside(_ field: OrgWatch.FieldID) throws {
    guard let record = watch.record(field.record), !record.isDeleted else { return }
    let others = Soup.fields(of: record.sobject).filter { $0 != field.field }
    guard !others.isEmpty else { return }
    let change: JSONObject = [others[step % others.count]: .string(token("other"))]
    if let error = org.update(record.sobject, id: record.id, change, as: admin).errors.first {
      throw error
    }
    watch.look(.otherUser)
  }

  // MARK: the end

  /// No more faults: the phones return what they have, and runs follow until nothing changes.
  func comeToRest() async throws {
    _ = try deliver()
    for phone in phones where phone.hasNews { _ = try returnStore(phone) }
    var last: Report?
    for round in 0..<8 {
      try org.moveClock(by: 40 * 60 * 1000)
      try await run(.all, nil)
      guard let result = runs.last else { return }
      let isQuiet = result.writes == 0 && result.report?.records.isEmpty ?? true
      if round > 1, isQuiet || (result.writes == 0 && result.report?.verdicts == last?.verdicts) {
        for report in book.orderedReports {
          for row in report.records { tally.add(row.verdict, to: "verdicts") }
        }
        return try book.judgeEnd(in: self)
      }
      last = result.report
    }
    throw Violation("after eight more runs the pipeline is still not at rest")
  }
}
