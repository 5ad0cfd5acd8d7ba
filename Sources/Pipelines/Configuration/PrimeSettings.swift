import JSON
import MobileSync
import Salesforce

/// How records are fetched.
package struct PrimeSettings: Sendable, Hashable {
  /// The action if a user's snapshot cannot be made.
  package enum UserFailure: String, Sendable, Hashable, CaseIterable {
    /// The other users are still served.
    case skipUser
    case failRun
  }

  /// The user as whom the org is read.
  package var fetchAs = ActingUser.user
  /// The seconds by which a sync overlaps the previous one, to find records that became visible
  /// late.
  package var overlapSeconds = SyncDefaults.overlapSeconds
  /// The number of records above which a full fetch of a `soql` sync uses a bulk job.
  package var bulkAbove = SyncDefaults.bulkAbove
  /// The interval, in runs, at which all IDs are listed to find deletions; nil for 1 with a
  /// briefcase and 7 with SOQL.
  package var ghostsEveryRuns: Int?
  /// The largest share of a soup that may be deleted at once.
  package var ghostsMaxDeletes = Percentage(DeletionGuard.standardPercent)
  /// The action if a briefcase rule fails.
  package var onRuleErrors = RuleErrorPolicy.standard
  /// The action if a user's snapshot cannot be made.
  package var onUserFailure = UserFailure.skipUser
  /// Which syncs fetch a record once for all users who read it alike.
  package var share = RecordPool.Mode.auto
  /// The values of `:name` in queries.
  package var variables: [String: String] = [:]

  /// The values of a user's variables, as they are written into queries.
  func variables(userID: String, username: String) -> [String: String] {
    variables.merging(["userId": userID, "username": username]) { $1 }
      .mapValues(SOQLLiteral.text)
  }

  /// The variables that every query may use.
  package static let builtInVariables = ["userId", "username"]

  static let keys = [
    "fetchAs", "overlapSeconds", "bulkAbove", "ghosts", "onRuleErrors", "onUserFailure",
    "share", "variables",
  ]

  init() {}

  init(_ object: ConfigurationObject) {
    fetchAs = object.word("fetchAs", "a user to fetch as", default: fetchAs)
    overlapSeconds = object.int("overlapSeconds", default: overlapSeconds, in: 0...86400)
    bulkAbove = object.int("bulkAbove", default: bulkAbove, in: 0...Int.max)
    let known = ["everyRuns", "maxDeletes"]
    if let ghosts = object.object("ghosts", known: known, what: "the section ghosts") {
      ghostsEveryRuns = ghosts.optionalInt("everyRuns", in: 1...Int.max)
      ghostsMaxDeletes = ghosts.percentage("maxDeletes", default: ghostsMaxDeletes)
    }
    onRuleErrors = object.word("onRuleErrors", "an action for rule errors", default: onRuleErrors)
    onUserFailure = object.word("onUserFailure", "an action for failures", default: onUserFailure)
    share = object.word("share", "a way to share records", default: share)
    guard let node = object["variables"] else { return }
    guard let members = node.members else {
      object.reader.wrongType(node, "an object", "write {\"region\": \"EMEA\"}")
      return
    }
    for member in members {
      if Self.builtInVariables.contains(member.name) {
        object.reader.report(
          member, ":\(member.name) is built in", "remove it, or give it another name")
      }
      variables[member.name] = object.reader.string(member.value)
    }
  }

  /// The interval, in runs, at which a `soql` sync lists all IDs.
  ///
  /// A briefcase lists them in every run.
  package var runsBetweenListings: Int { ghostsEveryRuns ?? 7 }

  var json: JSONValue {
    JSONObject.of([
      ("fetchAs", .string(fetchAs.rawValue)), ("overlapSeconds", JSONValue(overlapSeconds)),
      ("bulkAbove", JSONValue(bulkAbove)),
      (
        "ghosts",
        JSONObject.of([
          ("everyRuns", ghostsEveryRuns.map { JSONValue($0) }),
          ("maxDeletes", .string("\(ghostsMaxDeletes)")),
        ])
      ), ("onRuleErrors", .string(onRuleErrors.rawValue)),
      ("onUserFailure", .string(onUserFailure.rawValue)), ("share", .string(share.rawValue)),
      (
        "variables",
        .object(
          JSONObject(
            variables.sorted { $0.key < $1.key }.map { (name: $0.key, value: .string($0.value)) }))
      ),
    ])
  }
}
