import Ledger
import MobileSync
import Salesforce
import System

// Processing of several snapshots at a time, whose queries and writes run in parallel.
extension Reconciler {
  /// The numbers of snapshots, and roughly of edits, that are planned and sent together.
  ///
  /// They suffice for the maximum number of concurrent requests. An edit of a window takes 10 KiB,
  /// so a large run takes little more memory than one of 1,000 edits.
  private static let windowSnapshots = 16
  private static let windowEdits = 1000

  /// The edits of a snapshot that are processed together.
  private struct Work {
    var snapshotID: String
    var edits: [OpenEdit]
  }

  /// A snapshot's edits with their sender and their draft plan.
  private struct Draft {
    var planner: SnapshotPlanner
    var plan: SnapshotPlanner.Draft
    /// The edits without a verdict.
    var edits: [OpenEdit]
  }

  /// Processes open edits, window by window, until there are none.
  ///
  /// A snapshot that has edits left, because one waited for another or is decided again, is also in
  /// the next window.
  nonisolated(nonsending) func reconcileAll() async throws {
    while true {
      var queue = try state.snapshotsWithOpenEdits(run: run.id, only: options.only)[...]
      if queue.isEmpty { return }
      while true {
        let window = try nextWindow(&queue)
        if window.isEmpty { break }
        try await reconcile(window)
        queue = window.map(\.snapshotID)[...] + queue
      }
    }
  }

  /// The first snapshots of a queue that have open edits.
  ///
  /// If the order decides which of two edits of one record is sent, their snapshots go into
  /// different windows.
  private func nextWindow(_ queue: inout ArraySlice<String>) throws -> [Work] {
    var window: [Work] = []
    var all: Set<String> = []
    var ordered: Set<String> = []
    while window.count < Self.windowSnapshots,
      window.reduce(0, { $0 + $1.edits.count }) < Self.windowEdits, let snapshotID = queue.first
    {
      // Global stores may refer to records that users created, which are sent first.
      if snapshotID == SnapshotID.global, !window.isEmpty { break }
      let edits = try state.openEdits(run: run.id, snapshotID: snapshotID, only: options.only)
      if edits.isEmpty {
        queue.removeFirst()
        forget(snapshotID)
        continue
      }
      let records = Set(edits.compactMap(Self.place(of:)))
      var inOrder = Set(edits.filter { $0.decision != nil }.compactMap(Self.place(of:)))
      if options.deviceConflicts != .manual { inOrder.formUnion(edits.compactMap(\.recordID)) }
      if !ordered.isDisjoint(with: records) || !all.isDisjoint(with: inOrder) { break }
      all.formUnion(records)
      ordered.formUnion(inOrder)
      window.append(Work(snapshotID: snapshotID, edits: edits))
      queue.removeFirst()
    }
    return window
  }

  /// What an edit is about: its record or, for new records, which may share an external ID, their
  /// object.
  private static func place(of edit: OpenEdit) -> String? {
    edit.recordID ?? edit.sobject?.lowercased()
  }

  private nonisolated(nonsending) func reconcile(_ window: [Work]) async throws {
    var drafts = try await begin(window)
    try sendCircles(&drafts)
    try await askAhead(drafts)
    var plans: [SnapshotPlan] = []
    var readers: [RecordReader] = []
    for draft in drafts {
      do {
        plans.append(try await draft.planner.finish(draft.plan))
        readers.append(draft.planner.records)
      } catch let error as OrgError {
        try await holdAlone(draft.edits, error, draft.planner)
      }
    }
    for draft in drafts { draft.planner.records.forgetAnswers() }
    Self.keepApart(&plans)
    // An edit that waits for another one is in the ledger before that one is decided, and is then
    // processed again.
    for isHeld in [true, false] {
      try settle(
        plans.flatMap { plan in
          plan.settled.filter { ($0.settlement.verdict == .notAttempted) == isHeld }
        })
    }
    for place in plans.indices {
      plans[place].settled = []
      try holdGuarded(&plans[place])
    }
    for (place, access) in zip(plans.indices, readers) {
      try await presumeSent(&plans[place], as: access)
    }
    try await send(Array(zip(plans, readers)))
  }

  /// Decides about deletions of new records that wait for others, of any snapshot.
  private func sendCircles(_ drafts: inout [Draft]) throws {
    let waiting = drafts.flatMap(\.plan.plan.waiting)
    if waiting.isEmpty { return }
    var waits = try state.waitingUndos(run: run.id)
    for one in waiting { waits[one.send.edit.id] = one.first }
    for place in drafts.indices { drafts[place].plan.plan.sendCircles(waits) }
  }

  /// Leaves out the writes of a snapshot to a record, or an external ID, that an earlier snapshot
  /// writes to.
  ///
  /// Its edits stay open and are planned again when the ledger has the other write.
  ///
  /// Only now is it known which record an upsert means, or an edit of a merged record.
  private static func keepApart(_ plans: inout [SnapshotPlan]) {
    let keys = Set(plans.flatMap(\.sends).compactMap(\.upsertKey))
    var written: Set<String> = []
    for place in plans.indices {
      let targets = Set(plans[place].sends.flatMap { $0.targets(keys) })
      if written.isDisjoint(with: targets) {
        written.formUnion(targets)
      } else {
        plans[place].sends = []
        plans[place].levels = []
      }
    }
  }

  /// Decides what is possible without the org for a window's edits; edits that no user can send are
  /// resolved.
  private nonisolated(nonsending) func begin(_ window: [Work]) async throws -> [Draft] {
    let doubtful = Set(try state.operations(.unfinished).map(\.editID))
    try await logIn(window.map(\.snapshotID))
    var drafts: [Draft] = []
    for work in window {
      let inDoubt = work.edits.filter { doubtful.contains($0.id) }
      if !inDoubt.isEmpty { try leaveInDoubt(inDoubt) }
      var edits = work.edits.filter { !doubtful.contains($0.id) }.map(Self.withChosenRecord)
      let access: RecordReader?
      do {
        access = try await self.access(to: work.snapshotID)
      } catch let error as OrgError where error.isAboutTheUser || error.kind == .permission {
        tellInDoubt(inDoubt.count, of: work.snapshotID, error)
        try hold(edits, Self.words(error))
        continue
      }
      guard let access else {
        try hold(edits, Self.noLogin)
        continue
      }
      let planner = planner(work.snapshotID, access)
      do {
        edits = try await settleRefused(edits, planner)
        var plan = try await planner.begin(edits)
        // Other edits in the window have to see them. An undo may have to wait for a later one.
        let known = plan.plan.settled.filter { !$0.edit.isToBeUndone }
        try settle(known)
        plan.plan.settled.removeAll { !$0.edit.isToBeUndone }
        let ids = Set(known.map(\.edit.id))
        drafts.append(
          Draft(planner: planner, plan: plan, edits: edits.filter { !ids.contains($0.id) }))
      } catch let error as OrgError {
        try await holdAlone(edits, error, planner)
      }
    }
    return drafts
  }

  /// Does not attempt the edits of a user whose session has become invalid, or for whom a query
  /// fails; other users' edits continue.
  private nonisolated(nonsending) func holdAlone(
    _ edits: [OpenEdit], _ error: OrgError, _ planner: SnapshotPlanner
  ) async throws {
    try await checkAlone(error, planner.records)
    let words =
      error.isAboutTheUser ? Self.words(error) : "the org cannot answer: \(error.description)"
    try hold(edits, words)
  }

  /// Marks edits that no user can send now as not attempted; decisions that need no write are
  /// applied anyway.
  private func hold(_ edits: [OpenEdit], _ words: String) throws {
    let ended = try edits.compactMap { edit in
      try state.decidedWithoutLogin(edit, rules).map { (edit, $0) }
    }
    let ids = Set(ended.map(\.0.id))
    let held = edits.filter { !ids.contains($0.id) }
    let histories = RecordHistories(state)
    try histories.read(held)
    try settle(
      ended
        + held.map { edit in
          let fields = try histories.history(of: edit).editedFields(of: edit, rules).edited
          return (edit, Settlement(.notAttempted, .because(words, fields: fields)))
        })
    if !held.isEmpty {
      let edits = CountText.of(held.count, "edit", "was", "were")
      summary.warnings.append("\(edits) not attempted: \(words)")
    }
  }

  /// Throws an error that ends the work for all users, because they share the invalid login or the
  /// org does not answer at all.
  ///
  /// After an error that concerns one user or one query, all other work continues. This is the only
  /// place that distinguishes the two.
  nonisolated(nonsending) func checkAlone(_ error: OrgError, _ access: RecordReader) async throws {
    if error.isAboutTheObject { return }
    if error.isFailedAnswer {
      guard await access.session.isAnswered() else { throw error }
      return
    }
    guard error.isAboutTheUser else { throw error }
    guard let integration = try await integration() else { return }
    if integration === access { throw error }
    _ = try await integration.session.userInfo()
  }

  static func words(_ error: OrgError) -> String {
    "cannot act as the user: \(error.message)"
  }

  /// Runs the queries that the plans of a window need together: the objects, their records, and the
  /// outcome of those that cannot be read.
  private nonisolated(nonsending) func askAhead(_ drafts: [Draft]) async throws {
    let atOnce = options.inFlight
    await RecordReader.ask(
      drafts.flatMap { draft in
        draft.planner.objects(of: draft.plan).map {
          RecordReader.Inquiry(draft.planner.records, .describe($0))
        }
      }, inFlight: atOnce)
    try checkDeadline()
    let questions = drafts.flatMap { draft in
      draft.planner.questions(of: draft.plan).map {
        RecordReader.Inquiry(draft.planner.records, $0)
      }
    }
    await RecordReader.ask(questions, inFlight: atOnce)
    try await RecordReader.askForAbsent(of: questions)
  }

  // MARK: logins

  /// Logs in the users of snapshots in parallel; a failure is reported when it is the user's turn.
  private nonisolated(nonsending) func logIn(_ snapshotIDs: [String]) async throws {
    try checkDeadline()
    guard options.sendAs == .user else { return }
    let requests = try snapshotIDs.compactMap { id -> SessionRequest? in
      guard id != SnapshotID.global, let username = try state.snapshotRow(id: id)?.username else {
        return nil
      }
      let request = SessionRequest.user(username: username, id: id)
      return isKnown(request) ? nil : request
    }
    guard requests.count > 1 else { return }
    let sessionFor = sessionFor
    let logins = await InFlight.all(
      options.inFlight,
      requests.map { request in
        { () async -> Result<Session?, any Error> in
          do { return .success(try await sessionFor(request)) } catch { return .failure(error) }
        }
      },
      stops: { login in
        guard case .failure(let error as OrgError) = login else { return false }
        return error.kind != .authentication && error.kind != .permission
      })
    for case (let request, let login?) in zip(requests, logins) { self.logins[request] = login }
  }
}
