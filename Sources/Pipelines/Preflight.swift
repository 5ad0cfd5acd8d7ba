import JSON
import MobileSync
import Salesforce
import System

/// Holds the syncs of a pipeline against what its org says of objects and fields, as each of some users.
///
/// 1. Each sync says what it needs (`OrgNeed`), with the keys that lead to the words in its file.
/// 2. Each object is described once for a user; ways such as `Account.Name` are followed.
/// 3. What does not hold is a `Finding`, at its line and column; one that not all users have names them.
package struct Preflight {
  /// A problem, and the users for whom it is one.
  package struct Finding: Sendable, Hashable {
    /// What is wrong and where.
    package var problem: Problem
    /// The users; empty where it holds for all who were asked.
    package var users: [String] = []

    /// One line.
    package var description: String {
      users.isEmpty
        ? problem.description : "\(problem.description) (as \(users.joined(separator: ", ")))"
    }
  }

  /// Who does what a sync asks for.
  package enum Actor: Sendable { case user, integration }

  private struct Check {
    var need: OrgNeed
    var place: SyncPlace
    var actor: Actor
  }

  private let checks: [Check]
  private var found: [Problem: [String]] = [:]
  private var order: [(problem: Problem, actor: Actor)] = []
  private var asked: [Actor: Int] = [:]

  /// The checks of a pipeline's syncs, those that run.
  package init(_ pipeline: Pipeline) {
    let sendsOthers = pipeline.reconcile.sendAs == .integration
    checks = pipeline.stores.flatMap { store in
      (store.primed + store.reconciled).flatMap { sync in
        let place = SyncPlace(
          file: store.syncsFile, sync: store.syncs.definition(of: sync.syncName),
          syncName: sync.syncName)
        let isIntegration = store.scope == .global || (sync.syncType == .syncUp && sendsOthers)
        return sync.needs { soup in
          store.syncs.syncs.reduce(into: []) { $0.formUnion($1.objects(in: soup)) }
        }.map {
          Check(
            need: $0, place: place, actor: isIntegration ? .integration : .user)
        }
      }
    }
  }

  /// Asks the org as a user, and keeps what does not hold.
  package mutating func ask(_ session: Session, as actor: Actor) async throws(OrgError) {
    var org = DescribedOrg(session)
    var seen: Set<Problem> = []
    for check in checks where check.actor == actor {
      guard let fault = try await Self.fault(of: check.need, &org) else { continue }
      let problem = check.place.problem(at: check.need, fault)
      guard seen.insert(problem).inserted else { continue }
      if found[problem] == nil { order.append((problem, actor)) }
      found[problem, default: []].append(session.identity.username)
    }
    asked[actor, default: 0] += 1
  }

  /// What was found, in the order of the files.
  package var findings: [Finding] {
    order.enumerated().sorted {
      let (one, other) = ($0.element.problem, $1.element.problem)
      return (one.file, one.line, one.column, $0.offset)
        < (other.file, other.line, other.column, $1.offset)
    }.map { _, entry in
      let users = found[entry.problem] ?? []
      let isOfAll = users.count == asked[entry.actor]
      return Finding(problem: entry.problem, users: isOfAll ? [] : users)
    }
  }

  // MARK: judging

  /// What is wrong with a need, and what to do.
  struct Fault {
    var message: String
    var fix: String
  }

  private static func fault(
    of need: OrgNeed, _ org: inout DescribedOrg
  ) async throws(OrgError) -> Fault? {
    guard let describe = try await org.describe(need.sobject) else {
      // What is named with the object is told once, at the object.
      guard need.field == nil else { return nil }
      return Fault(
        message: "the org has no object \(JSONText.quoted(need.sobject)) for this user",
        fix: fix(need.sobject, among: try await org.objectNames()))
    }
    guard let path = need.field else {
      return describe.isQueryable
        ? nil
        : Fault(
          message: "\(describe.name) cannot be queried", fix: "name an object that can be queried")
    }
    var steps = path.split(separator: ".").map(String.init)
    let name = steps.popLast() ?? path
    var owner = describe
    for step in steps {
      let relation = owner.fields.first { $0.relationshipName?.lowercased() == step.lowercased() }
      guard let relation else {
        return Fault(
          message: "\(owner.name) has no relationship \(JSONText.quoted(step)) for this user",
          fix: fix(step, among: owner.fields.compactMap(\.relationshipName)))
      }
      // Of a reference to several objects the fields are those of all.
      guard relation.referenceTo.count == 1,
        let next = try await org.describe(relation.referenceTo[0])
      else { return nil }
      owner = next
    }
    guard let field = owner.field(name) else {
      return Fault(
        message: "\(owner.name) has no field \(JSONText.quoted(name)) for this user",
        fix: fix(name, among: owner.fields.map(\.name)))
    }
    return fault(of: need.use, field, owner)
  }

  private static func fix(_ word: String, among known: [String]) -> String {
    Spelling.nearest(word, among: known).map { "did you mean \(JSONText.quoted($0))?" }
      ?? "correct the name, or give the user access to it"
  }

  private static func fault(
    of use: OrgNeed.Use, _ field: Describe.Field, _ object: Describe
  ) -> Fault? {
    let name = "\(object.name).\(field.name)"
    switch use {
    case .read, .id: return nil
    case .filter where !field.isFilterable:
      return Fault(
        message: "\(name) is of the type \(field.type), which no query can compare",
        fix: "compare another field")
    case .create where !field.isCreateable:
      return Fault(
        message: "this user cannot set \(name) in new records, so the org refuses each that has it",
        fix: "take it out of the list, or give the user the right")
    case .update where !field.isUpdateable:
      return Fault(
        message: "this user cannot change \(name), so the org refuses each change that has it",
        fix: "take it out of the list, or give the user the right")
    case .externalID where !field.isExternalID && !field.isIDLookup:
      return Fault(
        message: "\(name) is no external id, so no record can be sent under it",
        fix: "name a field that is marked as external id")
    case .modificationDate where field.type != "datetime":
      return Fault(
        message: "\(name) is of the type \(field.type), not a date with a time",
        fix: "name the field that says when a record was changed, such as \"LastModifiedDate\"")
    case .parent(let type)
    where !field.referenceTo.contains { $0.lowercased() == type.lowercased() }:
      return Fault(
        message: "\(name) does not refer to \(type)",
        fix: "name the field of \(object.name) that holds the Id of its \(type)")
    default: return nil
    }
  }
}

/// What an org says of its objects to one user, each asked for once.
private struct DescribedOrg {
  private let session: Session
  private var objects: [String: Describe?] = [:]
  private var names: [String]?

  init(_ session: Session) { self.session = session }

  /// The description of an object; nil where the user has none of that name.
  mutating func describe(_ name: String) async throws(OrgError) -> Describe? {
    if let known = objects[name.lowercased()] { return known }
    let answer: Describe?
    do throws(OrgError) {
      answer = APIName.isValid(name) ? try await session.describe(name) : nil
    } catch {
      guard error.kind == .notFound else { throw error }
      answer = nil
    }
    objects[name.lowercased()] = .some(answer)
    return answer
  }

  mutating func objectNames() async throws(OrgError) -> [String] {
    if let names { return names }
    let all = try await session.objectNames()
    names = all
    return all
  }
}
