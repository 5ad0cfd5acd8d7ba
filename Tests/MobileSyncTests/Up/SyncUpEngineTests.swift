import MobileSync
import Salesforce
import System
import Testing

/// A change that the engine sends; its name is the record's ID.
private struct Change: SyncUpChange { let write: SyncUpWrite }

private final class Script: SyncUpJournal {
  let told = Locked<[String]>([])
  var lines: [String] { told.withLock { $0 } }
  var tellsKeeping = false
  /// Changes that are resolved before their request is sent.
  var settledBefore: Set<String> = []
  var mostChanges = Int.max
  /// Whether changes may be sent twice.
  var isHarmless = false

  private func tell(_ line: String) { told.withLock { $0.append(line) } }

  private func names(_ changes: [Change]) -> String {
    changes.compactMap(\.write.recordID).joined(separator: " ")
  }

  func prepare(_ batch: SyncUpRequest.Batch<Change>) async throws -> [Change] {
    batch.changes.filter { !settledBefore.contains($0.write.recordID ?? "") }
  }

  func intend(_ batch: [Change], job: String?) throws -> [Change] {
    tell("intend \(names(batch))")
    return batch
  }

  func separate(_ intention: [Change]) throws -> [Change]? {
    if isHarmless { return nil }
    tell("separate \(names(intention))")
    return intention
  }

  func keep() throws { if tellsKeeping { tell("keep") } }

  func withdraw(_ intention: [Change]) throws { tell("withdraw \(names(intention))") }

  func settle(
    _ answers: [(change: Change, answer: RowAnswer)], of intention: [Change],
    read: CompositeResult?, isLast: Bool
  ) async throws {
    let words = answers.map { change, answer in
      let name = change.write.recordID ?? ""
      switch answer {
      case .done: return "\(name) done"
      case .locked: return "\(name) locked"
      case .refused: return "\(name) refused"
      case .unknown: return "\(name) unknown"
      case .changed, .absent, .unprocessed: return "\(name) odd"
      }
    }
    tell("resolve \(words.joined(separator: ", "))\(isLast ? ", for good" : "")")
  }
}

struct SyncUpEngineTests {
  private static func error(_ kind: OrgError.Kind, isAmbiguous: Bool = false) -> OrgError {
    OrgError(kind, message: "m", request: "POST /", isAmbiguous: isAmbiguous)
  }

  private static let patient = SyncUpEngine<Script>.Patience(
    lockAttempts: 3, survivesDoubt: true
  ) { _ in }

  /// Sends updates of these records; `answer` returns the org's response to each.
  private func send(
    _ names: [String], _ patience: SyncUpEngine<Script>.Patience = patient, size: Int = 200,
    settledBefore: Set<String> = [], isHarmless: Bool = false, alone: Set<String> = [],
    _ answer: @escaping (String) throws -> RowAnswer
  ) async -> (lines: [String], error: OrgError.Kind?) {
    let script = Script()
    script.settledBefore = settledBefore
    script.isHarmless = isHarmless
    let engine = SyncUpEngine(
      SyncUpTarget(maxBatchSize: size), .custom { try answer($0.recordID ?? "") }, script,
      patience: patience)
    do {
      try await engine.send(
        names.map { name in
          var write = SyncUpWrite(.update, "Account", recordID: name)
          write.goesAlone = alone.contains(name)
          return Change(write: write)
        })
      return (script.lines, nil)
    } catch { return (script.lines, (error as? OrgError)?.kind) }
  }

  private static let done = RowAnswer.done(id: nil, created: nil)
  private static let locked = RowAnswer.locked(RowRefusal(code: "LOCK", message: "m"))

  @Test func `a request is recorded before it is sent, and answered before the next`() async {
    let end = await send(["a", "b", "c"], size: 2) { _ in Self.done }
    #expect(end.lines == ["intend a b", "resolve a done, b done", "intend c", "resolve c done"])
  }

  @Test func `responses are kept with the next request, and before any wait`() async throws {
    func lines(
      survivesDoubt: Bool, _ answer: @escaping (String) throws -> RowAnswer
    ) async -> [String] {
      let script = Script()
      script.tellsKeeping = true
      let patience = SyncUpEngine<Script>.Patience(
        lockAttempts: 2, survivesDoubt: survivesDoubt
      ) { [told = script.told] _ in told.withLock { $0.append("wait") } }
      let engine = SyncUpEngine(
        SyncUpTarget(maxBatchSize: 1), .custom { try answer($0.recordID ?? "") }, script,
        patience: patience)
      try? await engine.send(
        ["a", "b"].map { Change(write: SyncUpWrite(.update, "Account", recordID: $0)) })
      return script.lines
    }
    #expect(
      await lines(survivesDoubt: true) { _ in Self.done } == [
        "intend a", "resolve a done", "intend b", "resolve b done", "keep",
      ])
    var asked = 0
    #expect(
      await lines(survivesDoubt: true) { name in
        asked += 1
        return asked == 1 ? Self.locked : Self.done
      } == [
        "intend a", "resolve a locked", "keep", "wait", "intend a", "resolve a done, for good",
        "intend b", "resolve b done", "keep",
      ])
    #expect(
      await lines(survivesDoubt: false) { _ in throw Self.error(.unreachable, isAmbiguous: true) }
        == ["intend a", "resolve a unknown, for good", "keep"])
  }

  @Test func `a change that the journal has resolved is neither recorded nor sent`() async {
    var asked: [String] = []
    let end = await send(["a", "b"], settledBefore: ["a"]) { name in
      asked.append(name)
      return Self.done
    }
    #expect(end.lines == ["intend b", "resolve b done"])
    #expect(asked == ["b"])
    #expect(await send(["a"], settledBefore: ["a"]) { _ in Self.done }.lines.isEmpty)
  }

  @Test func `a request refused as a whole is withdrawn before its halves are recorded`() async {
    var asked = 0
    let end = await send(["a", "b", "c"]) { name in
      asked += 1
      if asked == 1 || name == "b" { throw Self.error(.refused("JSON_PARSER_ERROR")) }
      return Self.done
    }
    #expect(
      end.lines == [
        "intend a b c", "withdraw a b c", "intend a", "resolve a done", "intend b c",
        "withdraw b c", "intend b", "resolve b refused, for good", "intend c", "resolve c done",
      ])
    #expect(end.error == nil)
  }

  private static let tooLarge = OrgError(
    .invalidResponse, status: 413, message: "m", request: "POST /", isAmbiguous: true)

  @Test func `after a gateway's 413 its changes are unconfirmed and further requests smaller`()
    async
  {
    for patience in [Self.patient, .none] {
      let end = await send(["a", "b", "c", "d", "e", "f", "g"], patience, size: 4) { name in
        if name == "a" { throw Self.tooLarge }
        return Self.done
      }
      // Without patience, every answer is final.
      let last = patience.lockAttempts == 1 ? ", for good" : ""
      #expect(
        end.lines == [
          "intend a b c d", "separate a b c d",
          "resolve a unknown, b unknown, c unknown, d unknown, for good", "intend e f",
          "resolve e done, f done" + last, "intend g", "resolve g done" + last,
        ])
      #expect(end.error == nil)
    }
  }

  @Test func `after a gateway's 413, changes that may be sent twice are halved at once`() async {
    let end = await send(["a", "b", "c"], isHarmless: true) { name in
      if name == "b" { throw Self.tooLarge }
      return Self.done
    }
    #expect(
      end.lines == [
        "intend a b c", "withdraw a b c", "intend a", "resolve a done", "intend b",
        "resolve b refused, for good", "intend c", "resolve c done",
      ])
    #expect(end.error == nil)
  }

  @Test func `a change that goes alone has a separate request, in its place`() async {
    let end = await send(["a", "b", "c", "d"], alone: ["b"]) { _ in Self.done }
    #expect(end.lines.filter { $0.hasPrefix("intend") } == ["intend a", "intend b", "intend c d"])
  }

  @Test(arguments: [OrgError.Kind.permission, .notFound])
  func `a refusal of both halves is applied to each row`(_ kind: OrgError.Kind) async {
    let end = await send(["a", "b"]) { _ in throw Self.error(kind) }
    #expect(end.lines == ["intend a b", "resolve a refused, b refused, for good"])
    #expect(end.error == nil)
  }

  @Test(arguments: [OrgError.Kind.limit, .authentication, .unreachable])
  func `an org that accepts nothing ends the sending, and nothing is unconfirmed`(
    _ kind: OrgError.Kind
  ) async {
    let end = await send(["a", "b", "c"], size: 2) { _ in throw Self.error(kind) }
    #expect(end.lines == ["intend a b", "withdraw a b"])
    #expect(end.error == kind)
  }

  @Test func `a live store sends halves, and stops if unconfirmed or forbidden`() async {
    let refused = await send(["a", "b"], .none) { _ in throw Self.error(.refused("X")) }
    #expect(
      refused.lines == [
        "intend a b", "withdraw a b", "intend a", "resolve a refused, for good", "intend b",
        "resolve b refused, for good",
      ])
    #expect(refused.error == nil)
    for kind in [OrgError.Kind.permission, .notFound] {
      let end = await send(["a", "b"], .none) { _ in throw Self.error(kind) }
      #expect(end.lines == ["intend a b", "withdraw a b"])
      #expect(end.error == kind)
    }
    let lost = await send(["a", "b"], .none, size: 1) { _ in
      throw Self.error(.timeout, isAmbiguous: true)
    }
    #expect(lost.lines == ["intend a", "resolve a unknown, for good"])
    #expect(lost.error == .timeout)
    let held = await send(["a"], .none) { _ in Self.locked }
    #expect(held.lines == ["intend a", "resolve a locked, for good"])
  }

  @Test func `a pipeline continues after a lost response`() async {
    let end = await send(["a", "b"], size: 1) { name in
      if name == "a" { throw Self.error(.unreachable, isAmbiguous: true) }
      return Self.done
    }
    #expect(end.lines == ["intend a", "resolve a unknown, for good", "intend b", "resolve b done"])
    #expect(end.error == nil)
  }

  @Test func `locked rows are sent again in halves, as often as configured`() async {
    let end = await send(["a", "b", "c"]) { $0 == "a" ? Self.done : Self.locked }
    #expect(
      end.lines == [
        "intend a b c", "resolve a done, b locked, c locked", "intend b", "resolve b locked",
        "intend b", "resolve b locked, for good", "intend c", "resolve c locked", "intend c",
        "resolve c locked, for good",
      ])
  }

  @Test(arguments: [
    (OrgError.Kind.unreachable, true, false), (.timeout, true, false), (.certificate, true, false),
    (.limit, true, false), (.refused("X"), false, true), (.notFound, false, true),
    (.permission, false, true), (.tooLarge, false, true), (.authentication, false, false),
    (.invalidResponse, false, false), (.locatorExpired, false, false), (.cancelled, false, false),
    (.configuration, false, false),
  ])
  func `an error concerns the org, the requested object, or neither`(
    _ kind: OrgError.Kind, _ isOutage: Bool, _ isAboutTheObject: Bool
  ) {
    #expect(Self.error(kind).isOutage == isOutage)
    #expect(Self.error(kind).isAboutTheObject == isAboutTheObject)
  }
}
