import Salesforce
import System

/// Sends local changes to an org; all requests for them are made here.
///
/// For each batch of a target's kind and size:
/// 1. The journal checks its changes again and records that they are about to be sent. For a bulk
///    job, it records the ID of the job, which was opened before and does nothing yet.
/// 2. One request sends them.
/// 3. The journal records the responses before anything else is sent or waited for. If there is no
///    response, each change is unconfirmed and is looked up before it is sent again
///    (`InDoubtResolver`).
///
/// Loads are sent concurrently. The steps of a load are sent one after another, and the batches of
/// a step concurrently if the load allows it. Everything except the requests themselves runs in the
/// caller's task, so a journal is never called concurrently. After an error nothing more is sent,
/// and the responses of requests in flight are recorded. If a sender's session is no longer valid,
/// nothing more is sent for that sender, provided the journal allows it.
package final class SyncUpTraffic<Journal: SyncUpJournal> {
  /// The engine that sends a target's changes.
  package typealias Engine = SyncUpEngine<Journal>

  /// A batch, until it is answered.
  private struct Item {
    var engine: Engine
    var batch: SyncUpRequest.Batch<Journal.Change>
    /// The number of its load.
    var lane: Int
    var attempt = 1
    /// Whether everything that must be read before was read.
    var isReady = false
    /// The bulk job that was opened for it.
    var job: String?
    /// The requests of the lookup that is in flight for it.
    var questions: [RecordReader.Inquiry] = []
    /// The changes in flight and their recorded intention.
    var cargo: (changes: [Journal.Change], intention: Journal.Intention)?
  }

  /// A load being sent.
  private struct Lane {
    var steps: ArraySlice<[Item]>
    /// The batches of the current step that are still to be started.
    var ready: [Item] = []
    /// The number of its batches in flight or waiting.
    var open = 0
    /// Whether its requests are sent one after another: because the load requires it, or because a
    /// request was refused as a whole or had rows locked by another writer.
    var isStrict: Bool

    init(_ load: Engine.Load, number: Int) {
      steps =
        load.steps.map { step in
          step.map { Item(engine: load.engine, batch: $0, lane: number) }
        }[...]
      isStrict = !load.isBeside
    }

    var isOver: Bool { steps.isEmpty && ready.isEmpty && open == 0 }

    mutating func take() -> Item? {
      if ready.isEmpty, open == 0 { ready = steps.popFirst() ?? [] }
      if ready.isEmpty || (isStrict && open > 0) { return nil }
      open += 1
      return ready.removeFirst()
    }
  }

  private let inFlight: Int
  private var lanes: [Int: Lane]
  /// The unfinished lanes, in order.
  private var waiting: [Int]
  /// The batches with a request in flight, by the number of the request.
  private var flights: [Int: Item] = [:]
  private var started = 0
  /// Batches whose lookup is complete; they are sent first, while the lookup is current.
  private var looked: [Item] = []
  /// Batches that wait until a row locked by another writer may be free.
  private var resting: [(items: [Item], milliseconds: Int64)] = []

  /// The journal that recorded responses last, while they may still become durable with the next
  /// intention.
  private var told: Journal?

  /// The bulk jobs that were opened, and those that requests without a response may have opened.
  private var opened: Set<String> = []
  private var lost: [(journal: Journal, lost: Set<String>)] = []

  /// Creates the traffic of loads with at most `inFlight` concurrent requests.
  package init(_ loads: [Engine.Load], inFlight: Int) {
    self.inFlight = inFlight
    lanes = Dictionary(
      loads.enumerated().map { ($0, Lane($1, number: $0)) }, uniquingKeysWith: { first, _ in first }
    )
    waiting = Array(loads.indices)
  }

  /// Sends all loads.
  package func run() async throws {
    defer { tellOfLostJobs() }
    try await InFlight.run(
      inFlight, next: { try await self.next() },
      take: { try await self.take($0.flight, $0.answer) }, settle: keep)
  }

  /// Makes the recorded responses durable before anything is waited for.
  private func keep() throws {
    defer { told = nil }
    try told?.keep()
  }

  /// Reports jobs whose opening had no response: they have no rows and never will.
  private func tellOfLostJobs() {
    for job in lost {
      for id in job.lost.subtracting(opened).sorted() {
        job.journal.warn(
          "the response to opening the bulk job \(id) was lost: the job has no rows and does "
            + "nothing; it can be aborted under Bulk Data Load Jobs in Setup")
      }
    }
  }

  // MARK: Starting

  private func next() async throws -> SyncUpErrand.Request? {
    while true {
      if let item = takeItem() {
        if let request = try await start(item) { return request }
      } else if flights.isEmpty, !resting.isEmpty {
        try keep()
        try await rest()
      } else {
        return nil
      }
    }
  }

  /// Returns the next batch of the first lane that has one.
  private func takeItem() -> Item? {
    if !looked.isEmpty { return looked.removeFirst() }
    waiting.removeAll { lanes[$0]?.isOver != false }
    for lane in waiting {
      if let item = lanes[lane]?.take() { return item }
    }
    return nil
  }

  /// Starts a batch; returns nil if there is nothing to wait for.
  private func start(_ item: Item) async throws -> SyncUpErrand.Request? {
    var item = item
    let (engine, journal) = (item.engine, item.engine.journal)
    if journal.isEnded {
      lanes[item.lane]?.open -= 1
      return nil
    }
    if item.batch.form != .job, item.batch.changes.count > journal.mostChanges {
      let parts = item.batch.changes.parts(of: journal.mostChanges)
      again(Self.items(item, parts, attempt: item.attempt))
      return nil
    }
    let number = started
    if item.batch.form == .job, item.job == nil, case .org(let session) = engine.carrier,
      let write = item.batch.changes.first?.write
    {
      started += 1
      flights[number] = item
      return SyncUpErrand.open(write, session, number: number)
    }
    if !item.isReady {
      let questions = journal.questions(before: item.batch)
      if !questions.isEmpty {
        started += 1
        item.questions = questions
        flights[number] = item
        return SyncUpErrand.look(questions, number: number)
      }
    }
    let changes: [Journal.Change]
    do {
      changes = try await journal.prepare(item.batch)
    } catch let error as OrgError {
      guard try await ends(journal, error) else { throw error }
      changes = []
    }
    if changes.isEmpty {
      lanes[item.lane]?.open -= 1
      return nil
    }
    let intention = try journal.intend(changes, job: item.job)
    if told === journal { told = nil } else { try keep() }
    started += 1
    item.cargo = (changes, intention)
    flights[number] = item
    switch engine.carrier {
    case .custom(let carry):
      // A custom target's code is not run concurrently with other code.
      let answer = try await Self.carry(changes, carry)
      try await take(number, .carried(answer))
      return nil
    case .org(let session):
      let request = SyncUpRequest(
        form: item.batch.form, writes: changes.map(\.write),
        read: engine.reads ? journal.read(after: changes) : nil, job: item.job,
        mayWait: engine.patience.mayWait)
      return SyncUpErrand.carry(request, session, number: number)
    }
  }

  private static func carry(
    _ changes: [Journal.Change], _ carry: (SyncUpWrite) async throws -> RowAnswer
  ) async throws -> SyncUpErrand.Carried {
    var answers: [RowAnswer] = []
    do {
      for change in changes { answers.append(try await carry(change.write)) }
      return .success((answers, nil))
    } catch let error as OrgError {
      return .failure(error)
    }
  }

  /// Waits once for all resting batches, if nothing else can be done.
  private func rest() async throws {
    let (rested, patience) = (resting, resting[0].items[0].engine.patience)
    try await patience.pause(rested.map(\.milliseconds).max() ?? 0)
    resting = []
    for (items, _) in rested { again(items) }
  }

  // MARK: Responses

  private func take(_ number: Int, _ answer: SyncUpErrand.Answer) async throws {
    guard var item = flights.removeValue(forKey: number) else { return }
    switch answer {
    case .looked(let answers):
      for (inquiry, answer) in zip(item.questions, answers) { inquiry.keep(answer) }
      item.isReady = true
      looked.append(item)
    case .opened(.success(let job)):
      opened.insert(job)
      item.job = job
      looked.append(item)
    case .opened(.failure(let failure)):
      let journal = item.engine.journal
      lost.append((journal, failure.lost))
      guard failure.mayGoInRequests else {
        lanes[item.lane]?.open -= 1
        if try await ends(journal, failure.error) { return }
        throw failure.error
      }
      journal.warn(
        "the org created no bulk job, so the changes are sent in requests: "
          + failure.error.message)
      again(halves(item.batch.changes, item, attempt: item.attempt))
    case .carried(let result):
      guard let cargo = item.cargo else { return }
      try await enter(result, item, cargo.changes, cargo.intention)
    }
  }

  /// Whether the error concerns a single sender whose session is no longer valid, so that other
  /// senders' requests continue.
  private func ends(_ journal: Journal, _ error: OrgError) async throws -> Bool {
    try keep()
    guard error.isAboutTheUser else { return false }
    return try await journal.isEnded ? true : journal.end(error)
  }

  /// Puts batches to send again at the front of their lane.
  private func again(_ items: [Item]) {
    guard let lane = items.first?.lane else { return }
    lanes[lane]?.open -= 1
    lanes[lane]?.ready.insert(contentsOf: items, at: 0)
  }

  private func enter(
    _ result: SyncUpErrand.Carried, _ item: Item, _ changes: [Journal.Change],
    _ intention: Journal.Intention
  ) async throws {
    let (journal, patience) = (item.engine.journal, item.engine.patience)
    let isLast = item.attempt >= patience.lockAttempts
    var carried: (answers: [RowAnswer], read: CompositeResult?)
    switch result {
    case .success(let answer): carried = answer
    case .failure(let error):
      let isOfAll = patience.survivesDoubt && error.isAboutTheObject && !error.isAmbiguous
      if error.isAboutTheRows || isOfAll {
        return try await refused(item, changes, error, intention)
      }
      if error.isAmbiguous, error.saysTooLarge {
        return try await tooLarge(item, changes, error, intention)
      }
      lanes[item.lane]?.open -= 1
      guard error.isAmbiguous else {
        try journal.withdraw(intention)
        if try await ends(journal, error) { return }
        throw error
      }
      // A response that belongs to other requests, or is invalid, reports nothing about the rows
      // either.
      let isAnswered = error.kind == .invalidResponse
      let words =
        (isAnswered ? "the response cannot be read: " : "no response arrived: ") + error.message
      try await settle(
        journal, changes.map { ($0, .unknown(words)) }, of: intention, isLast: true)
      if patience.survivesDoubt { return }
      throw error
    }
    if !isLast { carried.answers = Self.waitingForParent(changes, carried.answers) }
    try await settle(
      journal, Array(zip(changes, carried.answers)), of: intention, read: carried.read,
      isLast: isLast)
    let locked = zip(changes, carried.answers).filter { RetryPolicy.repeats($1) }
    if isLast || locked.isEmpty {
      lanes[item.lane]?.open -= 1
      return
    }
    // Fewer rows at a time hold fewer locks.
    lanes[item.lane]?.isStrict = true
    resting.append(
      (
        halves(locked.map(\.0), item, attempt: item.attempt + 1),
        RetryPolicy.pauseOfRows(after: item.attempt)
      ))
  }

  private func settle(
    _ journal: Journal, _ answers: [(change: Journal.Change, answer: RowAnswer)],
    of intention: Journal.Intention, read: CompositeResult? = nil, isLast: Bool
  ) async throws {
    if told !== journal { try keep() }
    try await journal.settle(answers, of: intention, read: read, isLast: isLast)
    told = journal
  }

  /// Marks the responses of a tree whose parent was locked by another writer: the org refused the
  /// children because of it, and they are retried with it.
  private static func waitingForParent(
    _ changes: [Journal.Change], _ answers: [RowAnswer]
  ) -> [RowAnswer] {
    // Changes are large, and rows are almost never locked.
    guard answers.contains(where: RetryPolicy.repeats) else { return answers }
    let isHeld = zip(changes, answers).contains { change, answer in
      guard case .locked = answer else { return false }
      return change.write.isParent
    }
    if !isHeld { return answers }
    return zip(changes, answers).map { change, answer in
      guard case .refused(let refusal) = answer, change.write.parentField != nil else {
        return answer
      }
      return .locked(refusal)
    }
  }

  /// One row can make a whole request fail, so halves are sent until that row is alone.
  private func refused(
    _ item: Item, _ changes: [Journal.Change], _ error: OrgError, _ intention: Journal.Intention
  ) async throws {
    let journal = item.engine.journal
    guard changes.count > 1, error.isAboutTheRows || error.saysTooLarge else {
      lanes[item.lane]?.open -= 1
      let refusal = RowRefusal(error)
      return try await settle(
        journal, changes.map { ($0, .refused(refusal)) }, of: intention, isLast: true)
    }
    try journal.withdraw(intention)
    lanes[item.lane]?.isStrict = true
    again(halves(changes, item, attempt: item.attempt))
  }

  /// Handles the answer that a request is too large if it is not in the org's own form.
  ///
  /// A gateway may have forwarded the request anyway. So it is only halved if sending its changes
  /// twice does no harm; otherwise they are unconfirmed and later sent alone. The journal's further
  /// requests are smaller.
  private func tooLarge(
    _ item: Item, _ changes: [Journal.Change], _ error: OrgError, _ intention: Journal.Intention
  ) async throws {
    let journal = item.engine.journal
    journal.mostChanges = min(journal.mostChanges, max(1, changes.count / 2))
    lanes[item.lane]?.isStrict = true
    guard let separate = try journal.separate(intention) else {
      return try await refused(item, changes, error, intention)
    }
    lanes[item.lane]?.open -= 1
    try await settle(
      journal, changes.map { ($0, .unknown(error.message)) }, of: separate, isLast: true)
  }

  /// Splits the changes into smaller parts; after a job, they are sent in requests.
  private func halves(_ changes: [Journal.Change], _ item: Item, attempt: Int) -> [Item] {
    if item.batch.form == .job {
      return item.engine.batches(changes, afterJob: true).map {
        Item(engine: item.engine, batch: $0, lane: item.lane, attempt: attempt)
      }
    }
    let half = changes.count / 2
    return Self.items(
      item, half == 0 ? [changes] : [Array(changes[..<half]), Array(changes[half...])],
      attempt: attempt)
  }

  private static func items(
    _ item: Item, _ parts: [[Journal.Change]], attempt: Int
  ) -> [Item] {
    parts.map { part in
      Item(
        engine: item.engine,
        batch: SyncUpRequest.Batch(form: item.batch.form, changes: part), lane: item.lane,
        attempt: attempt)
    }
  }
}
