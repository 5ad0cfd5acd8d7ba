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
        return sync.needs { soup in
          store.syncs.syncs.reduce(into: []) { $0.formUnion($1.objects(in: soup)) }
        }.map {
          Check(
            need: $0, place: place, actor: isIntegration ? .integration : .user, isOfSyncUp: isUp)
        }
      }
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
          isOfSyncUp: check.isOfSyncUp))
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
  /// a right, but a misspelt field would be left out of each edit in silence.
  private static func isFatal(_ words: Words, _ need: OrgNeed, _ isOfSyncUp: Bool) -> Bool {
    guard !words.mayHold else { return false }
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
  }

  /// What is known of a need.
  private struct Judgement {
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

  private static func judge(_ need: OrgNeed, _ session: Session) -> Judgement {
    guard let describe = session.knownObject(need.sobject) else {
      guard session.knows(need.sobject) else { return Judgement(unknown: need.sobject) }
      // What is named with the object is told once, at the object.
      guard need.field == nil else { return Judgement() }
      let message = "the org has no object \(JSONText.quoted(need.sobject)) for this user"
      return Judgement(
        words: Words(message: message, fix: "", isMissing: true), isOfObject: true)
    }
    guard let path = need.field else {
      let words = Words(
        message: "\(describe.name) cannot be queried", fix: "name an object that can be queried")
      return Judgement(words: describe.isQueryable ? nil : words)
    }
    var steps = path.split(separator: ".").map(String.init)
    let name = steps.popLast() ?? path
    var owner = describe
    var reached: [String] = []
    for step in steps {
      let relation = owner.fields.first { $0.relationshipName?.lowercased() == step.lowercased() }
      guard let relation else {
        let words = Self.missing(
          "\(owner.name) has no relationship", step, owner.fields.compactMap(\.relationshipName))
        return Judgement(words: words, reached: reached)
      }
      // Of a reference to several objects the fields are those of all.
      guard relation.referenceTo.count == 1 else { return Judgement(reached: reached) }
      let target = relation.referenceTo[0]
      reached.append(target)
      guard let next = session.knownObject(target) else {
        return Judgement(unknown: session.knows(target) ? nil : target, reached: reached)
      }
      owner = next
    }
    guard let field = owner.field(name) else {
      let words = Self.missing("\(owner.name) has no field", name, owner.fields.map(\.name))
      return Judgement(words: words, reached: reached)
    }
    return Judgement(words: words(of: need.use, field, owner), reached: reached)
  }

  private static func missing(_ subject: String, _ name: String, _ known: [String]) -> Words {
    // In the org in which a package is made its names are understood without their prefix.
    let full = known.first { $0.lowercased().hasSuffix("__" + name.lowercased()) }
    return Words(
      message: "\(subject) \(JSONText.quoted(name)) for this user",
      fix: full.map { "did you mean \(JSONText.quoted($0))?" } ?? fix(name, among: known),
      isMissing: true, mayHold: full != nil)
  }

  private static func fix(_ word: String, among known: [String]) -> String {
    Spelling.nearest(word, among: known).map { "did you mean \(JSONText.quoted($0))?" }
      ?? "correct the name, or give the user access to it"
  }

  private static func words(
    of use: OrgNeed.Use, _ field: Describe.Field, _ object: Describe
  ) -> Words? {
    let name = "\(object.name).\(field.name)"
    switch use {
    case .read, .id: return nil
    case .filter where !field.isFilterable:
      return Words(
        message: "\(name) is of the type \(field.type), which no query can compare",
        fix: "compare another field")
    case .create where !field.isCreateable:
      return Words(
        message: "this user cannot set \(name) in new records, so the org refuses each that has it",
        fix: "take it out of the list, or give the user the right")
    case .update where !field.isUpdateable:
      return Words(
        message: "this user cannot change \(name), so the org refuses each change that has it",
        fix: "take it out of the list, or give the user the right")
    case .externalID where !field.isExternalID && !field.isIDLookup:
      return Words(
        message: "\(name) is no external id, so no record can be sent under it",
        fix: "name a field that is marked as external id")
    case .modificationDate where field.type != "datetime":
      return Words(
        message: "\(name) is of the type \(field.type), not a date with a time",
        fix: "name the field that says when a record was changed, such as \"LastModifiedDate\"")
    case .parent(let type)
    where !field.referenceTo.contains { $0.lowercased() == type.lowercased() }:
      return Words(
        message: "\(name) does not refer to \(type)",
        fix: "name the field of \(object.name) that holds the Id of its \(type)")
    default: return nil
    }
  }
}
