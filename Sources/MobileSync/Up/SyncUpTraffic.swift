import Salesforce
import System

/// Local changes on their way to an org: the one place that makes requests of them.
///
/// For each batch of a target's kind and size:
/// 1. the journal looks at its changes once more, and writes down that they are about to leave, for a bulk job
///    with the id of the job, which was opened before and does nothing yet;
/// 2. one request carries them;
/// 3. the answers stand in the journal before anything else leaves or is waited for. Where none came, each change
///    is in doubt, and is looked for before it is sent again (`InDoubtResolver`).
///
/// Loads go beside each other; the steps of a load go one after another, and the batches of a step beside
/// each other where the load says so. All but the requests themselves happens in the caller's task, so that
/// no journal is ever asked two things at once. After an error nothing more leaves, and the answers of what
/// is on its way are entered; where the org knows a sender no more, nothing more leaves for that one, if the
/// journal says so.
package final class SyncUpTraffic<Journal: SyncUpJournal> {
  /// What knows how a target is sent.
  package typealias Engine = SyncUpEngine<Journal>

  private struct Item {
    var engine: Engine
    var batch: SyncUpRequest.Batch<Journal.Change>
    var attempt = 1
    /// What was to be read before is read.
    var isReady = false
    /// The bulk job that was opened for it.
    var job: String?
  }

  /// A load on its way.
  private struct Lane {
    /// The steps that are still to come.
    var steps: ArraySlice<[Item]>
    /// What of the present step is still to be started.
    var ready: [Item] = []
    /// How much of it is on its way, or rests.
    var open = 0
    /// Whether its requests go one after another: as the load says, and once a request was refused whole
    /// or had rows that another writer held.
    var isStrict: Bool

    init(_ load: Engine.Load) {
      steps = load.steps.map { $0.map { Item(engine: load.engine, batch: $0) } }[...]
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

  /// A request on its way.
  private struct Flight {
    var lane: Int
    var item: Item
    /// What is asked in a look at the org before.
    var questions: [RecordReader.Inquiry] = []
    /// What it carries, and where that is written down; nil for such a look.
    var cargo: (changes: [Journal.Change], intention: Journal.Intention)?
  }

  private let inFlight: Int
  private var lanes: [Int: Lane]
  /// The lanes that are not over, in their order.
  private var waiting: [Int]
  private var flights: [Int: Flight] = [:]
  private var started = 0
  /// What was looked at right before it is sent: it goes before all else, while the look is true.
  private var looked: [(lane: Int, item: Item)] = []
  /// What waits until a row that another writer held may be free.
  private var resting: [(lane: Int, items: [Item], milliseconds: Int64)] = []

  /// The journal that was told answers last, while they may be kept with what is intended next.
  private var told: Journal?

  /// The bulk jobs that were opened, and those that may have been by requests without an answer.
  private var opened: Set<String> = []
  private var lost: [(journal: Journal, lost: Set<String>)] = []

  /// The traffic of loads, with at most so many requests at once.
  package init(_ loads: [Engine.Load], inFlight: Int) {
    self.inFlight = inFlight
    lanes = Dictionary(
      loads.enumerated().map { ($0, Lane($1)) }, uniquingKeysWith: { first, _ in first })
    waiting = Array(loads.indices)
  }

  /// Sends all of it.
  package func run() async throws {
    defer { tellOfLostJobs() }
    try await InFlight.run(
      inFlight, next: { try await self.next() },
      take: { try await self.take($0.flight, $0.answer) }, settle: keep)
  }

  /// Keeps the answers that were told, before anything is waited for.
  private func keep() throws {
    defer { told = nil }
    try told?.keep()
  }

  /// Tells of jobs that were opened without an answer: they have no rows, and nobody will give them any.
  private func tellOfLostJobs() {
    for job in lost {
      for id in job.lost.subtracting(opened).sorted() {
        job.journal.warn(
          "the answer to the opening of the bulk job \(id) got lost: it has no rows and does nothing, and can be "
            + "aborted under Bulk Data Load Jobs in Setup")
      }
    }
  }

  // MARK: starting

  private func next() async throws -> SyncUpErrand.Request? {
    while true {
      if let (lane, item) = takeItem() {
        if let request = try await start(item, lane) { return request }
      } else if flights.isEmpty, !resting.isEmpty {
        try keep()
        try await rest()
      } else {
        return nil
      }
    }
  }

  /// The next of the first lane that has something to start.
  private func takeItem() -> (lane: Int, item: Item)? {
    if !looked.isEmpty { return looked.removeFirst() }
    waiting.removeAll { lanes[$0]?.isOver != false }
    for lane in waiting {
      if let item = lanes[lane]?.take() { return (lane, item) }
    }
    return nil
  }

  /// Begins with a batch; nil where there is nothing to wait for.
  private func start(_ item: Item, _ lane: Int) async throws -> SyncUpErrand.Request? {
    let (engine, journal) = (item.engine, item.engine.journal)
    if journal.isEnded {
      lanes[lane]?.open -= 1
      return nil
    }
    let number = started
    if item.batch.form == .job, item.job == nil, case .org(let session) = engine.carrier,
      let write = item.batch.changes.first?.write
    {
      started += 1
      flights[number] = Flight(lane: lane, item: item)
      return SyncUpErrand.open(write, session, number: number)
    }
    if !item.isReady {
      let questions = journal.questions(before: item.batch)
      if !questions.isEmpty {
        started += 1
        flights[number] = Flight(lane: lane, item: item, questions: questions)
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
      lanes[lane]?.open -= 1
      return nil
    }
    let intention = try journal.intend(changes, job: item.job)
    if told === journal { told = nil } else { try keep() }
    started += 1
    flights[number] = Flight(lane: lane, item: item, cargo: (changes, intention))
    switch engine.carrier {
    case .custom(let carry):
      // A program's own code is not ours to run beside other code.
      let answer = try await Self.carry(changes, carry)
      try await take(number, .carried(answer))
      return nil
    case .org(let session):
      let request = SyncUpRequest(
        item.batch.form, changes.map(\.write),
        read: engine.reads ? journal.read(after: changes) : nil, job: item.job,
        while: engine.patience.mayWait)
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

  /// Waits once for all that rests, when nothing else can be done.
  private func rest() async throws {
    let (rested, patience) = (resting, resting[0].items[0].engine.patience)
    try await patience.pause(rested.map(\.milliseconds).max() ?? 0)
    resting = []
    for (lane, items, _) in rested {
      lanes[lane]?.ready.insert(contentsOf: items, at: 0)
      lanes[lane]?.open -= 1
    }
  }

  // MARK: answers

  private func take(_ number: Int, _ answer: SyncUpErrand.Answer) async throws {
    guard var flight = flights.removeValue(forKey: number) else { return }
    switch answer {
    case .looked(let answers):
      for (inquiry, answer) in zip(flight.questions, answers) { inquiry.keep(answer) }
      flight.item.isReady = true
      looked.append((flight.lane, flight.item))
    case .opened(.success(let job)):
      opened.insert(job)
      flight.item.job = job
      looked.append((flight.lane, flight.item))
    case .opened(.failure(let failure)):
      let (item, journal) = (flight.item, flight.item.engine.journal)
      lost.append((journal, failure.lost))
      guard failure.mayGoInRequests else {
        lanes[flight.lane]?.open -= 1
        if try await ends(journal, failure.error) { return }
        throw failure.error
      }
      journal.warn(
        "the org made no bulk job, and the changes go in requests: \(failure.error.message)")
      again(halves(item.batch.changes, item, attempt: item.attempt), flight.lane)
    case .carried(let result):
      guard let cargo = flight.cargo else { return }
      try await enter(result, flight, cargo.changes, cargo.intention)
    }
  }

  /// Whether an error is that of one sender whom the org knows no more: what others send goes on.
  private func ends(_ journal: Journal, _ error: OrgError) async throws -> Bool {
    try keep()
    guard error.isAboutTheUser else { return false }
    return try await journal.isEnded ? true : journal.end(error)
  }

  /// Puts what goes once more before all else of its lane.
  private func again(_ items: [Item], _ lane: Int) {
    lanes[lane]?.open -= 1
    lanes[lane]?.ready.insert(contentsOf: items, at: 0)
  }

  private func enter(
    _ result: SyncUpErrand.Carried, _ flight: Flight, _ changes: [Journal.Change],
    _ intention: Journal.Intention
  ) async throws {
    let (item, lane) = (flight.item, flight.lane)
    let (journal, patience) = (item.engine.journal, item.engine.patience)
    let isLast = item.attempt >= patience.lockAttempts
    var carried: (answers: [RowAnswer], read: CompositeResult?)
    switch result {
    case .success(let answer): carried = answer
    case .failure(let error):
      let isOfAll = patience.survivesDoubt && error.isAboutTheObject && !error.isAmbiguous
      if error.isAboutTheRows || isOfAll {
        return try await refused(item, changes, error, intention, lane)
      }
      lanes[lane]?.open -= 1
      guard error.isAmbiguous else {
        try journal.withdraw(intention)
        if try await ends(journal, error) { return }
        throw error
      }
      // An answer that is none, such as one to other requests, tells nothing of the rows either.
      let isAnswered = error.kind == .invalidResponse
      let words =
        (isAnswered ? "the answer cannot be read: " : "no answer came back: ") + error.message
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
      lanes[lane]?.open -= 1
      return
    }
    // Fewer rows at a time hold fewer locks.
    lanes[lane]?.isStrict = true
    resting.append(
      (
        lane, halves(locked.map(\.0), item, attempt: item.attempt + 1),
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

  /// The answers of a tree whose parent another writer held: the org has refused the children for want of
  /// it, and they are tried again with it.
  private static func waitingForParent(
    _ changes: [Journal.Change], _ answers: [RowAnswer]
  ) -> [RowAnswer] {
    // Changes are large, and as good as always nothing is held.
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

  /// One row can spoil a whole request: halves are sent until it stands alone.
  private func refused(
    _ item: Item, _ changes: [Journal.Change], _ error: OrgError, _ intention: Journal.Intention,
    _ lane: Int
  ) async throws {
    let journal = item.engine.journal
    guard changes.count > 1, error.isAboutTheRows else {
      lanes[lane]?.open -= 1
      let refusal = RowRefusal(error)
      return try await settle(
        journal, changes.map { ($0, .refused(refusal)) }, of: intention, isLast: true)
    }
    try journal.withdraw(intention)
    lanes[lane]?.isStrict = true
    again(halves(changes, item, attempt: item.attempt), lane)
  }

  /// What is sent in smaller parts; after a job in requests.
  private func halves(_ changes: [Journal.Change], _ item: Item, attempt: Int) -> [Item] {
    if item.batch.form == .job {
      return item.engine.batches(changes, afterJob: true).map {
        Item(engine: item.engine, batch: $0, attempt: attempt)
      }
    }
    let half = changes.count / 2
    let parts = half == 0 ? [changes] : [Array(changes[..<half]), Array(changes[half...])]
    return parts.map { part in
      Item(
        engine: item.engine,
        batch: SyncUpRequest.Batch(form: item.batch.form, changes: part), attempt: attempt)
    }
  }
}
