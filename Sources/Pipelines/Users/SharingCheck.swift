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
    /// The number of users in each class.
    package var classes: [Int]
    /// The number of users who fetch their records separately, by the reasons.
    package var separate: [String: Int]
    /// The numbers of records of a first prime; nil for a sync that does not list them.
    package var counts: RecordPool.Counts?
  }

  /// What is known while users are added.
  private struct Tally {
    var classes: [ReadingClass: Int] = [:]
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
  mutating func add(_ session: Session) async throws(SyncError) {
    let syncs = pipeline.stores(of: .user).flatMap(\.primed)
    let variables = pipeline.prime.variables(
      userID: session.identity.userID, username: session.identity.username)
    let hasBriefcases = syncs.contains { $0.target.of(BriefcaseTarget.self) != nil }
    let listed =
      hasBriefcases ? try await BriefcaseListing.fetch(session) { listRequests += 1 } : nil
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
        sync: sync, object: object, classes: tally.classes.values.sorted(by: >),
        separate: tally.separate, counts: tally.counts)
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
    case .shared(let name):
      tallies[place].tally.classes[name, default: 0] += 1
      let news = (ids ?? []).count {
        tallies[place].tally.seen[name, default: RecordIDSet()].insert($0)
      }
      fetched = news + min(RecordPool.sampleSize, fetched - news)
    case .separate(let reasons):
      tallies[place].tally.separate[reasons.joined(separator: "; "), default: 0] += 1
    }
    if let ids {
      let counts = tallies[place].tally.counts ?? RecordPool.Counts()
      tallies[place].tally.counts = RecordPool.Counts(
        fetched: counts.fetched + fetched, used: counts.used + ids.count)
    }
  }

  /// The lines of text.
  package var lines: [String] {
    var lines = ["sharing (prime.share is \(pipeline.prime.share.rawValue)):"]
    if pipeline.prime.fetchAs == .integration {
      return [lines[0] + " none, because all records are fetched as the integration user"]
    }
    for entry in entries {
      let name = "  \(entry.sync), \(entry.object): "
      for users in entry.classes {
        lines.append(name + CountText.of(users, "user") + (users > 1 ? " read it alike" : " alone"))
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

  /// The JSON form.
  package var json: JSONValue {
    [
      "share": .string(pipeline.prime.share.rawValue), "listRequests": JSONValue(listRequests),
      "syncs": .array(
        entries.map { entry in
          [
            "sync": .string(entry.sync), "object": .string(entry.object),
            "classes": .array(entry.classes.map { JSONValue($0) }),
            "separate": .array(
              entry.separate.sorted { $0.key < $1.key }.map {
                ["reason": .string($0.key), "users": JSONValue($0.value)]
              }),
            "records": entry.counts.map {
              ["fetched": JSONValue($0.fetched), "used": JSONValue($0.used)]
            } ?? .null,
          ]
        }),
    ]
  }
}
