import Ledger
import MobileSync
import Salesforce
import System

// Several snapshots at a time: what is asked for them goes beside each other, and what is sent as well.
extension Reconciler {
  /// How many snapshots, and about how many edits, are planned and sent together.
  ///
  /// Enough for as many requests as there may be at once. An edit of a window takes 10 KiB, so that a large run
  /// takes hardly more memory than one of 1,000 edits.
  private static let windowSnapshots = 16
  private static let windowEdits = 1000

  /// The edits of a snapshot that are taken up together.
  private struct Work {
    var snapshotID: String
    var edits: [OpenEdit]
  }

  /// A snapshot's edits with the one who sends them, and what is to become of them.
  private struct Draft {
    var planner: SnapshotPlanner
    var plan: SnapshotPlanner.Draft
    /// The edits that have no verdict yet.
    var edits: [OpenEdit]
  }

  /// Takes up what is open, window by window, until nothing is.
  ///
  /// A snapshot that has edits left, because one waited for another or was decided anew, is in the next
  /// window again.
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
  /// Where the order decides which of two edits of one record is sent, their snapshots are of two windows.
  private func nextWindow(_ queue: inout ArraySlice<String>) throws -> [Work] {
    var window: [Work] = []
    var all: Set<String> = []
    var ordered: Set<String> = []
    while window.count < Self.windowSnapshots,
      window.reduce(0, { $0 + $1.edits.count }) < Self.windowEdits, let snapshotID = queue.first
    {
      // Global stores may refer to what users have made: it is sent before.
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

  /// What an edit is of: its record, or for new records, which may have one external id, their object.
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
    // What waits for another one is in the ledger before that comes to its end, and is taken up again then.
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

  /// Decides about deletions of new records that wait for others, whoever made those.
  private func sendCircles(_ drafts: inout [Draft]) throws {
    let waiting = drafts.flatMap(\.plan.plan.waiting)
    if waiting.isEmpty { return }
    var waits = try state.waitingUndos(run: run.id)
    for one in waiting { waits[one.send.edit.id] = one.first }
    for place in drafts.indices { drafts[place].plan.plan.sendCircles(waits) }
  }

  /// Sends nothing of a snapshot that writes to a record to which one before it writes, or whose external
  /// id one before it gives or goes by: its edits stay open, and are planned again when the ledger has the
  /// other's write.
  ///
  /// Which record an upsert means is known only now, or an edit of one that was merged.
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

  /// What is known of a window's edits without the org; edits that nobody can send are settled.
  private nonisolated(nonsending) func begin(_ window: [Work]) async throws -> [Draft] {
    let doubtful = Set(try state.unfinishedOperations().map(\.editID))
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
        // The others of the window are to see them. An undoing may have to wait for one that comes later.
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

  /// Holds the edits of a user who got in and whom the org then knew no more, or one of whose questions it
  /// cannot or does not answer: nobody else's wait for that.
  private nonisolated(nonsending) func holdAlone(
    _ edits: [OpenEdit], _ error: OrgError, _ planner: SnapshotPlanner
  ) async throws {
    try await checkAlone(error, planner.records)
    let words =
      error.isAboutTheUser ? Self.words(error) : "the org cannot answer: \(error.description)"
    try hold(edits, words)
  }

  /// Holds edits that nobody can send now; what a person has ended without a write is settled all the same.
  private func hold(_ edits: [OpenEdit], _ words: String) throws {
    let ended = try edits.compactMap { edit in
      try state.decidedWithoutLogin(edit, rules).map { (edit, $0) }
    }
    let ids = Set(ended.map(\.0.id))
    let held = edits.filter { !ids.contains($0.id) }
    try settle(
      ended
        + held.map { edit in
          var detail = OutcomeDetail.because(words)
          if edit.finding == nil { detail.fields = try state.editedFields(of: edit, rules).edited }
          return (edit, Settlement(.notAttempted, detail))
        })
    if !held.isEmpty { summary.warnings.append("\(held.count) edits were not attempted: \(words)") }
  }

  /// Throws an error that ends the work for all: the login that has ended is that of all, or the org answers
  /// nothing at all.
  ///
  /// All other work goes on after one that is of one user, or about one question: the one place that says so.
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

  /// Asks at once what the plans of a window will ask: the objects, their records, and what became of
  /// those that do not read.
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

  /// Logs the users of snapshots in, beside each other; who cannot is told when it is their turn.
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
