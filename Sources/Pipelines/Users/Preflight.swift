import JSON
import MobileSync
import Salesforce
import System

/// Validates the syncs of a pipeline against what its org describes to its users.
///
/// 1. Each sync lists its needs (`OrgNeed`), each with the keys that locate the word in its file.
/// 2. All objects are described to a user in one request, and relationship paths such as
///    `Account.Name` are followed. The descriptions are cached in the session.
/// 3. An unmet need is a `Fault` with line and column. `PreflightFindings` combines the faults of
///    several users.
package final class Preflight: Sendable {
  /// The user as whom a sync sends its requests.
  package enum Actor: Sendable, Hashable { case user, integration }

  /// A need that the org does not meet for one user.
  package struct Fault: Sendable, Hashable {
    /// The message and its location.
    package var problem: Problem
    /// Whether the sync cannot work at all; otherwise it may work, at least in part.
    package var isFatal: Bool
    /// Whether the sync sends edits, rather than fetching records.
    package var isOfSyncUp: Bool
    /// Whether the org spells the name in different case.
    ///
    /// The file is then wrong for every user.
    package var isInOtherCase = false
  }

  private struct Check {
    var need: OrgNeed
    var place: SyncPlace
    var actor: Actor
    var isOfSyncUp: Bool
  }

  private let checks: [Check]
  /// The names of the org's objects, once they have been fetched.
  private let names = Locked<[String]?>(nil)
  /// The objects that relationship paths led to, once a user's descriptions were fetched.
  private let led = Locked<Set<String>?>(nil)

  /// Creates the checks for the syncs that the given stages of a pipeline run.
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

  /// Creates the checks for some of a store's syncs, as its user.
  ///
  /// `file` is the path of the sync file.
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

  /// Whether any check needs to ask the org as this actor.
  package func concerns(_ actor: Actor) -> Bool { checks.contains { $0.actor == actor } }

  /// The objects to be described to this actor, as far as known, except those for needs that the
  /// records will show to be met.
  func objects(as actor: Actor, except isShown: (OrgNeed) -> Bool = { _ in false }) -> [String] {
    objects(for: checks.filter { $0.actor == actor && !isShown($0.need) }.map(\.need))
  }

  private func objects(for needs: [OrgNeed]) -> [String] {
    if needs.isEmpty { return [] }
    let reached = led.withLock { $0 } ?? Set(needs.flatMap { Self.guesses(of: $0) })
    return needs.map(\.sobject) + reached.sorted()
  }

  /// Asks the org as a user, and returns the faults in the order of the syncs.
  ///
  /// Objects that the session has already described are not requested again. Needs that the user's
  /// records have shown to be met are not judged.
  package func faults(_ session: Session, as actor: Actor) async throws(OrgError) -> [Fault] {
    let checks = checks.filter { check in
      check.actor == actor
        && !(check.need.isOfReading && session.hasRead(check.need.field, of: check.need.sobject))
    }
    var wanted = objects(for: checks.map(\.need))
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

  /// The object names for suggestions; empty if the org does not list them.
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

  /// Whether a sync cannot work at all.
  ///
  /// A missing name is always fatal for a fetch. For a sync up, a missing permission is not,
  /// because the org refuses edit by edit; a misspelt field is, because it would silently be left
  /// out of each edit.
  private static func isFatal(_ words: Words, _ need: OrgNeed, _ isOfSyncUp: Bool) -> Bool {
    guard !words.mayHold else { return false }
    if words.isInOtherCase { return true }
    return !isOfSyncUp || (words.isMissing && need.use != .modificationDate)
  }

  // MARK: judging

  /// The message and the suggested fix for an unmet need.
  struct Words {
    var message: String
    var fix: String
    /// Whether the object or the field does not exist.
    var isMissing = false
    /// Whether the org may accept it anyway.
    var mayHold = false
    /// Whether the org spells the name in different case.
    var isInOtherCase = false
  }

  /// The evaluation of one need.
  struct Judgement {
    /// The message; nil if the need is met.
    var words: Words?
    /// Whether the missing thing is the object.
    var isOfObject = false
    /// The object that must be described first.
    var unknown: String?
    /// The objects that the path to the field reaches.
    var reached: [String] = []
  }

  /// The objects that the steps of a relationship path probably lead to.
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
