import JSON
import MobileSync
import Salesforce
import System

/// Which records the users of a pipeline would fetch for each other.
package struct SharingCheck: Sendable {
  /// An object of a sync.
  package struct Entry: Sendable {
    package var sync: String
    package var object: String
    /// The number of users in each class, and the fields whose values they share.
    package var classes: [(users: Int, shared: [String])]
    /// The number of users who fetch the values of a field in addition to the shared ones, by the
    /// reasons.
    package var own: [String: Int]
    /// The number of users who fetch their records separately, by the reasons.
    package var separate: [String: Int]
    /// The numbers of records of a first prime; nil for a sync that does not list them.
    package var counts: RecordPool.Counts?
  }

  /// What is known while users are added.
  private struct Tally {
    var classes: [ReadingClass: Int] = [:]
    var own: [String: Int] = [:]
    var separate: [String: Int] = [:]
    var seen: [ReadingClass: RecordIDSet] = [:]
    var counts: RecordPool.Counts?
  }

  package private(set) var entries: [Entry] = []
  /// The number of requests that list the records of all users.
  package private(set) var listRequests = 0

  private let pipeline: Pipeline
  private var tallies: [(sync: String, object: String, tally: Tally)] = []

  init(_ pipeline: Pipeline) { self.pipeline = pipeline }

  /// Adds a user, whose session knows the objects of the syncs, and lists the user's briefcases.
  mutating func list(_ session: Session) async throws(SyncError) {
    let syncs = pipeline.stores(of: .user).flatMap(\.primed)
    guard syncs.contains(where: { $0.target.of(BriefcaseTarget.self) != nil }) else {
      return add(session, nil)
    }
    add(session, try await BriefcaseListing.fetch(session) { listRequests += 1 })
  }

  /// Adds a user, whose session knows the objects of the syncs, with the list of the user's
  /// briefcases, if it is known.
  mutating func add(_ session: Session, _ listed: BriefcaseListing?) {
    let syncs = pipeline.stores(of: .user).flatMap(\.primed)
    let variables = pipeline.prime.variables(
      userID: session.identity.userID, username: session.identity.username)
    for sync in syncs {
      let listing = sync.target.of(BriefcaseTarget.self) == nil ? nil : listed
      for found in sync.sharing(session, pipeline.prime.share, variables: variables) {
        add(
          sync.syncName, found.object, found.shareability,
          listing?.entries(of: found.object).map(\.id))
      }
    }
    entries = tallies.map { sync, object, tally in
      Entry(
        sync: sync, object: object,
        classes: tally.classes.map { (users: $1, shared: $0.shared) }.sorted {
          ($1.users, $0.shared.joined()) < ($0.users, $1.shared.joined())
        }, own: tally.own, separate: tally.separate, counts: tally.counts)
    }
  }

  private mutating func add(
    _ sync: String, _ object: String, _ shareability: Shareability, _ ids: [String]?
  ) {
    let known = tallies.firstIndex { $0.sync == sync && $0.object == object }
    if known == nil { tallies.append((sync, object, Tally())) }
    let place = known ?? tallies.count - 1
    var fetched = ids?.count ?? 0
    switch shareability {
    case .shared(let name, let own):
      tallies[place].tally.classes[name, default: 0] += 1
      for reason in own { tallies[place].tally.own[reason, default: 0] += 1 }
      let news = (ids ?? []).count {
        tallies[place].tally.seen[name, default: RecordIDSet()].insert($0)
      }
      let others = fetched - news
      let mine = news + min(RecordPool.sampleSize, others)
      // The user's own values of the records of others are requested as the records are.
      let isSpared =
        own.isEmpty || pipeline.prime.share == .always
        || RecordPool.calls([mine, others]) <= RecordPool.calls([fetched])
      if isSpared { fetched = mine }
    case .separate(let reasons):
      tallies[place].tally.separate[reasons.joined(separator: "; "), default: 0] += 1
    }
    if let ids {
      let counts = tallies[place].tally.counts ?? RecordPool.Counts()
      tallies[place].tally.counts = RecordPool.Counts(
        fetched: counts.fetched + fetched, used: counts.used + ids.count)
    }
  }

  package var lines: [String] {
    var lines = ["sharing (prime.share is \(pipeline.prime.share.rawValue)):"]
    if pipeline.prime.fetchAs == .integration {
      return [lines[0] + " none, because all records are fetched as the integration user"]
    }
    for entry in entries {
      let name = "  \(entry.sync), \(entry.object): "
      for (users, shared) in entry.classes {
        let fields = entry.own.isEmpty ? "" : ", in \(shared.joined(separator: ", "))"
        lines.append(
          name + CountText.of(users, "user") + (users > 1 ? " read it alike" : " alone") + fields)
      }
      for (reason, users) in entry.own.sorted(by: { $0.key < $1.key }) {
        lines.append(name + "\(CountText.of(users, "user")) with own values: \(reason)")
      }
      for (reasons, users) in entry.separate.sorted(by: { $0.key < $1.key }) {
        lines.append(name + "\(CountText.of(users, "user")) separately: \(reasons)")
      }
      if let counts = entry.counts {
        lines.append(
          name + "a first prime fetches \(counts.fetched) of \(CountText.of(counts.used, "record"))"
        )
      }
    }
    if listRequests > 0 {
      lines.append("  \(CountText.of(listRequests, "request")) list the briefcases of all users")
    }
    return lines
  }

  /// What a dry run prints, which has the descriptions of some users only.
  var plan: [String] {
    entries.flatMap { entry in
      let name = "prime: \(entry.sync), \(entry.object): "
      let shared = entry.classes.map {
        "fetched once for users who read it alike: \($0.shared.joined(separator: ", "))"
      }
      let own = entry.own.keys.sorted().map { "own values of each user: \($0)" }
      let separate = entry.separate.keys.sorted().map { "fetched by each user: \($0)" }
      return (shared + own + separate).map { name + $0 }
    }
  }

  private static func json(_ reasons: [String: Int]) -> JSONValue {
    .array(
      reasons.sorted { $0.key < $1.key }.map {
        ["reason": .string($0.key), "users": JSONValue($0.value)]
      })
  }

  package var json: JSONValue {
    [
      "share": .string(pipeline.prime.share.rawValue), "listRequests": JSONValue(listRequests),
      "syncs": .array(
        entries.map { entry in
          [
            "sync": .string(entry.sync), "object": .string(entry.object),
            "classes": .array(
              entry.classes.map { users, shared in
                ["users": JSONValue(users), "fields": .array(shared.map { .string($0) })]
              }),
            "own": Self.json(entry.own), "separate": Self.json(entry.separate),
            "records": entry.counts.map {
              ["fetched": JSONValue($0.fetched), "used": JSONValue($0.used)]
            } ?? .null,
          ]
        }),
    ]
  }
}
