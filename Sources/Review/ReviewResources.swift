import HTTP
import JSON
import Ledger
import Pipelines
import Reports
import System

/// The resources of the page, below the page's own path.
///
/// | request | answer |
/// |---|---|
/// | `GET ` | the page |
/// | `GET edits` | all open edits, one line each |
/// | `GET details?of=1,2` | edits with all details |
/// | `POST look` `{"edits": […]}` | a job: the org's current values of the edits |
/// | `POST plan` decisions | a job: what would be sent |
/// | `POST decide` decisions | records them for the next run |
/// | `POST send` `{"edits": […]}` | a job: a run that applies their decisions |
/// | `GET job?number=1&after=0` | the events of a job; waits up to 20 s |
///
/// Decisions have the form that `ReviewChoices` reads. If a request fails, the answer has the
/// members `message`, `reason` and `fix`.
final class ReviewResources: Sendable {
  private struct State: Sendable {
    /// The open edits that the page knows, by number.
    var open: [Int64: PipelineDecisions.Open] = [:]
    /// The org's values of edits, as last looked up.
    var looks: [Int64: PlannedOutcome] = [:]
    /// The versions of each edit that were shown to the page.
    var revisions: [Int64: [DecisionRequest.Seen]] = [:]
    var jobs: [ReviewJob] = []

    /// The current state of an edit: that of its last look-up, if the verdict is still the same.
    func seen(_ edit: ReportEdit) -> DecisionRequest.Seen {
      let fields = looks[edit.number].flatMap {
        $0.verdict == edit.verdict ? $0.detail.fields : nil
      }
      return DecisionRequest.Seen(edit.verdict, edit.detail, fields: fields)
    }

    /// Returns the revision number of what is shown of an edit.
    mutating func revision(_ edit: ReportEdit, _ seen: DecisionRequest.Seen) -> Int {
      if let known = revisions[edit.number]?.firstIndex(of: seen) { return known + 1 }
      revisions[edit.number, default: []].append(seen)
      return revisions[edit.number]?.count ?? 0
    }
    var asked = Clock.monotonicNanoseconds()
    var isStopped = false
  }

  let decisions: PipelineDecisions
  private let pipeline: Pipeline
  private let variables: [String: String]
  private let name: String
  private let state = Locked(State())

  init(
    _ pipeline: Pipeline, root: String, variables: [String: String], by name: String
  ) throws {
    decisions = PipelineDecisions(pipeline, root: root)
    (self.pipeline, self.variables, self.name) = (pipeline, variables, name)
    // Report an unreadable ledger at once rather than on the page.
    _ = try decisions.edits([])
  }

  /// The seconds since the last request; 0 while a job is running.
  var idleSeconds: Int {
    state.withLock { state in
      if state.jobs.last?.isUnderWay == true { return 0 }
      return Int((Clock.monotonicNanoseconds() - state.asked) / 1_000_000_000)
    }
  }

  /// Cancels the running job, and waits for its end.
  func stop() async {
    let job = state.withLock { state in
      state.isStopped = true
      return state.jobs.last
    }
    await job?.stop()
  }

  /// Answers a request for the resource at `place`.
  func answer(_ request: ServerRequest, _ place: String) -> ServerResponse {
    state.withLock { $0.asked = Clock.monotonicNanoseconds() }
    do {
      switch (request.method, place) {
      case ("GET", ""): return ReviewPage.answer(pipeline: pipeline.name, by: name)
      case ("GET", "edits"): return try edits()
      case ("GET", "details"): return try details(request)
      case ("GET", "job"): return job(request)
      case ("POST", "look"): return try look(request)
      case ("POST", "plan"): return try plan(request)
      case ("POST", "decide"): return try decide(request)
      case ("POST", "send"): return try send(request)
      default: return Self.refusal(404, "there is no such resource")
      }
    } catch let error as ReviewChoices.Unreadable {
      return Self.refusal(400, error.words)
    } catch is Busy {
      return Self.refusal(409, "a job is running; wait until it has finished")
    } catch {
      return Self.json(409, ReviewJob.failure(error))
    }
  }

  // MARK: reading

  private func edits() throws -> ServerResponse {
    let list = try decisions.open()
    let revisions = state.withLock { state in
      state.open = Dictionary(list.map { ($0.edit.number, $0) }, uniquingKeysWith: { $1 })
      state.looks = [:]
      return list.map { state.revision($0.edit, state.seen($0.edit)) }
    }
    let (names, shown) = (try decisions.names(), decisions.shown)
    return Self.json(
      200,
      [
        "pipeline": .string(pipeline.name), "by": .string(name),
        "edits": .array(
          zip(list, revisions).map { ReviewEdit.line($0, revision: $1, names, shown) }),
      ])
  }

  private func details(_ request: ServerRequest) throws -> ServerResponse {
    let wanted = (request.query("of") ?? "").split(separator: ",").compactMap { Int64($0) }
    let (known, looks, revisions) = state.withLock { state in
      let known = wanted.prefix(ReviewPage.batch).compactMap { state.open[$0] }
      return (known, state.looks, known.map { state.revision($0.edit, state.seen($0.edit)) })
    }
    let others = Set(known.flatMap(\.edit.detail.otherEdits))
    let byNumber = Dictionary(
      try decisions.edits(others.sorted()).map { ($0.number, $0) }, uniquingKeysWith: { $1 })
    let names = try decisions.names()
    let list = zip(known, revisions).map { open, revision in
      ReviewEdit.details(
        open, look: looks[open.edit.number], others: byNumber, revision: revision, names,
        decisions.shown, pipeline.called)
    }
    return Self.json(200, ["edits": .array(list)])
  }

  private func job(_ request: ServerRequest) -> ServerResponse {
    let number = request.query("number").flatMap { Int($0) } ?? 0
    let after = request.query("after").flatMap { Int($0) } ?? 0
    let jobs = state.withLock { $0.jobs }
    guard jobs.indices.contains(number - 1) else {
      return Self.refusal(404, "there is no such job")
    }
    let (events, isEnded) = jobs[number - 1].events.next(
      after: max(0, after), waiting: Self.longestWaitMilliseconds)
    return Self.json(200, ["events": .array(events), "ended": JSONValue(isEnded)])
  }

  /// Proxies and browsers abort answers that take much longer.
  private static let longestWaitMilliseconds = 20_000

  // MARK: look-ups and runs

  private struct Busy: Error {}

  /// Starts a job, unless one is running.
  private func begin(
    _ perform:
      @escaping @Sendable (@escaping @Sendable (RunEvent) -> Void) async throws -> JSONObject
  ) throws -> ServerResponse {
    let number = try state.withLock { state in
      if state.isStopped || state.jobs.last?.isUnderWay == true { throw Busy() }
      let job = ReviewJob(number: state.jobs.count + 1, perform)
      state.jobs.append(job)
      return job.number
    }
    return Self.json(202, ["job": JSONValue(number)])
  }

  private func look(_ request: ServerRequest) throws -> ServerResponse {
    let edits = (try body(request)["edits"]?.array ?? []).compactMap(\.int)
    return try begin { [self] report in
      let looks = try await decisions.look(at: edits, variables: variables, report: report)
      let open = state.withLock { state in
        for look in looks { state.looks[look.editID] = look }
        return state.open
      }
      var candidates = JSONObject()
      let found = try await decisions.candidates(
        of: edits.compactMap { open[$0]?.edit }, variables: variables)
      for (id, record) in found.sorted(by: { $0.key < $1.key }) {
        candidates[id] = ReviewEdit.candidate(record, decisions.shown)
      }
      return [
        "looked": .array(looks.map { JSONValue($0.editID) }), "candidates": .object(candidates),
      ]
    }
  }

  private func plan(_ request: ServerRequest) throws -> ServerResponse {
    let requests = try requests(request)
    return try begin { [self] report in
      let entered = try decisions.enter(
        requests, by: name, isDryRun: true, asFarAsPossible: true)
      var planned: [PlannedOutcome] = []
      if !entered.decided.isEmpty {
        let options = try decisions.runOptions(trying: entered.decided, by: name)
        planned = try await decisions.run(options, variables: variables, report: report).planned
      }
      let names = try decisions.names()
      return [
        "planned": .array(planned.map { ReviewEdit.plan($0, names, self.decisions.shown) }),
        "refused": .array(
          entered.refused.map { ["edit": JSONValue($0.edit), "reason": .string($0.reason)] }),
        "replaced": Self.replaced(entered),
      ]
    }
  }

  private func decide(_ request: ServerRequest) throws -> ServerResponse {
    let entered = try decisions.enter(try requests(request), by: name)
    return Self.json(
      200,
      ["decided": JSONValue(entered.decided.count), "replaced": Self.replaced(entered)])
  }

  private func send(_ request: ServerRequest) throws -> ServerResponse {
    let edits = (try body(request)["edits"]?.array ?? []).compactMap(\.int)
    guard !edits.isEmpty else { throw ReviewChoices.Unreadable() }
    return try begin { [self] report in
      // The decisions are recorded: the run processes these edits and those that wait for them.
      let options = try decisions.runOptions(carryingOut: edits, by: name)
      let summary = try await decisions.run(options, variables: variables, report: report)
      let results = try decisions.edits(edits)
      return [
        "summary": summary.json,
        "results": .array(results.map { ReviewEdit.result($0, self.decisions.shown) }),
      ]
    }
  }

  // MARK: requests and answers

  private func body(_ request: ServerRequest) throws -> JSONValue {
    guard let value = try? JSONValue(parsing: request.body) else {
      throw ReviewChoices.Unreadable()
    }
    return value
  }

  private func requests(_ request: ServerRequest) throws -> [DecisionRequest] {
    let revisions = state.withLock { $0.revisions }
    return try ReviewChoices.requests(try body(request)) { edit, revision in
      guard let known = revisions[edit], known.indices.contains(revision - 1) else { return nil }
      return known[revision - 1]
    }
  }

  /// The replaced decisions of other operators.
  private static func replaced(_ entered: PipelineDecisions.Result) -> JSONValue {
    .array(
      entered.replaced.map { ["edit": JSONValue($0.edit), "by": .string($0.by)] })
  }

  private static func refusal(_ status: Int, _ message: String) -> ServerResponse {
    json(status, ["type": "failed", "message": .string(message)])
  }

  private static func json(_ status: Int, _ value: JSONValue) -> ServerResponse {
    ServerResponse(
      status: status,
      headers: ["Content-Type": "application/json; charset=utf-8"], body: value.bytes)
  }
}
