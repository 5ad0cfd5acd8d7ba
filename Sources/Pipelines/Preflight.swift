import JSON
import MobileSync
import Salesforce
import System

/// Holds the syncs of a pipeline against what its org says of objects and fields to its users.
///
/// 1. Each sync says what it needs (`OrgNeed`), with the keys that lead to the words in its file.
/// 2. All objects are described to a user in one request; ways such as `Account.Name` are followed. Whoever
///    has the session finds the descriptions there.
/// 3. What does not hold is a `Fault`, at its line and column; `PreflightFindings` puts those of several
///    users together.
package final class Preflight: Sendable {
  /// Who does what a sync asks for.
  package enum Actor: Sendable, Hashable { case user, integration }

  /// What does not hold for one user.
  package struct Fault: Sendable, Hashable {
    /// What is wrong and where.
    package var problem: Problem
    /// Whether the sync cannot do its work; else it may, or some of it.
    package var isFatal: Bool
    /// Whether edits are sent by the sync, and not records fetched.
    package var isOfSyncUp: Bool
    /// Whether the org has the name in other letters: the file is wrong, whoever was asked.
    package var isInOtherCase = false
  }

  private struct Check {
    var need: OrgNeed
    var place: SyncPlace
    var actor: Actor
    var isOfSyncUp: Bool
  }

  private let checks: [Check]
  /// The names of the org's objects, once they were asked for.
  private let names = Locked<[String]?>(nil)
  /// The objects that ways led to, once a user was asked.
  private let led = Locked<Set<String>?>(nil)

  /// The checks of the syncs that some stages of a pipeline run.
  package init(_ pipeline: Pipeline, stages: Set<Stage> = [.reconcile, .prime]) {
    let sendsOthers = pipeline.reconcile.sendAs == .integration
    let fetchesOthers = pipeline.prime.fetchAs == .integration
    checks = pipeline.stores.flatMap { store in
      let primed = stages.contains(.prime) ? store.primed : []
      let reconciled = stages.contains(.reconcile) ? store.reconciled : []
      return (primed + reconciled).flatMap { sync in
        let place = SyncPlace(
          file: store.syncsFile, sync: store.syncs.definition(of: sync.syncName),
          syncName: sync.syncName)
        let isUp = sync.syncType == .syncUp
        let isIntegration = store.scope == .global || (isUp ? sendsOthers : fetchesOthers)
        return Self.checks(
          of: sync, among: store.syncs.syncs, place, isIntegration ? .integration : .user)
      }
    }
  }

  /// The checks of some of the syncs that a store has, as its user; `file` is what holds them.
  package init(_ syncs: [SyncDefinition], among all: [SyncDefinition], file: String) {
    checks = syncs.flatMap { sync in
      let place = SyncPlace(file: file, sync: nil, syncName: sync.syncName)
      return Self.checks(of: sync, among: all, place, .user)
    }
  }

  private static func checks(
    of sync: SyncDefinition, among all: [SyncDefinition], _ place: SyncPlace, _ actor: Actor
  ) -> [Check] {
    sync.needs { soup in
      all.reduce(into: []) { $0.formUnion($1.objects(in: soup)) }
    }.map {
      Check(need: $0, place: place, actor: actor, isOfSyncUp: sync.syncType == .syncUp)
    }
  }

  /// Whether there is anything that somebody has to be asked for.
  package func concerns(_ actor: Actor) -> Bool { checks.contains { $0.actor == actor } }

  /// Asks the org as a user, and answers what does not hold, in the order of the syncs.
  ///
  /// An object that the session knows is not asked for again.
  package func faults(_ session: Session, as actor: Actor) async throws(OrgError) -> [Fault] {
    let checks = checks.filter { $0.actor == actor }
    var wanted = checks.map(\.need.sobject)
    wanted += led.withLock { $0 } ?? Set(checks.flatMap { Self.guesses(of: $0.need) })
    var judged: [Judgement] = []
    var reached: Set<String> = []
    while !wanted.isEmpty {
      try await session.learn(wanted)
      judged = checks.map { Self.judge($0.need, session) }
      wanted = judged.compactMap(\.unknown)
      reached.formUnion(wanted)
      reached.formUnion(judged.flatMap(\.reached))
    }
    led.withLock { $0 = ($0 ?? []).union(reached) }
    var faults: [Fault] = []
    var seen: Set<Problem> = []
    for (check, judgement) in zip(checks, judged) {
      guard var words = judgement.words else { continue }
      if judgement.isOfObject {
        words.fix = Self.fix(check.need.sobject, among: try await objectNames(session))
      }
      let problem = check.place.problem(at: check.need, words)
      guard seen.insert(problem).inserted else { continue }
      faults.append(
        Fault(
          problem: problem, isFatal: Self.isFatal(words, check.need, check.isOfSyncUp),
          isOfSyncUp: check.isOfSyncUp, isInOtherCase: words.isInOtherCase))
    }
    return faults
  }

  /// The names for a suggestion; none where the org does not give them.
  private func objectNames(_ session: Session) async throws(OrgError) -> [String] {
    if let known = names.withLock({ $0 }) { return known }
    do throws(OrgError) {
      let all = try await session.objectNames()
      names.withLock { $0 = all }
      return all
    } catch {
      guard error.kind != .cancelled else { throw error }
      return []
    }
  }

  /// Whether a sync cannot do its work.
  ///
  /// What is fetched by what is not there is wrong. What is sent is refused edit by edit where a user lacks
  /// a right, but a misspelt field would be left out of each edit in silence, and a date would not be found.
  private static func isFatal(_ words: Words, _ need: OrgNeed, _ isOfSyncUp: Bool) -> Bool {
    guard !words.mayHold else { return false }
    if words.isInOtherCase { return true }
    return !isOfSyncUp || (words.isMissing && need.use != .modificationDate)
  }

  // MARK: judging

  /// What is wrong with a need, and what to do.
  struct Words {
    var message: String
    var fix: String
    /// Whether the object or the field is not there.
    var isMissing = false
    /// Whether the org may understand it all the same.
    var mayHold = false
    /// Whether the org has the name in other letters.
    var isInOtherCase = false
  }

  /// What is known of a need.
  struct Judgement {
    /// What is wrong with it.
    var words: Words?
    /// Whether it is the object that is not there.
    var isOfObject = false
    /// The object that has to be described first.
    var unknown: String?
    /// The objects to which the way to the field leads.
    var reached: [String] = []
  }

  /// The objects to which the steps of a way probably lead.
  private static func guesses(of need: OrgNeed) -> [String] {
    (need.field ?? "").split(separator: ".").dropLast().map { step in
      let step = String(step)
      switch step.lowercased() {
      case "owner", "createdby", "lastmodifiedby": return "User"
      case let name where name.hasSuffix("__r"): return step.dropLast() + "c"
      default: return step
      }
    }
  }
}
