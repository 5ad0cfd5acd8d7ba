import JSON
import LocalOrg
import System

/// An org of many contacts and one user who has all of them in a store for each platform, over
/// several runs.
final class RenewalFleet {
  private let fleet: BenchFleet
  private let org: LocalOrg.Org
  private let admin: OrgUser
  private let served: BenchFleet.Served
  private var ids: [String] = []
  private var changes = 0

  /// Where a fleet is in a directory.
  static func fleet(in directory: String) -> BenchFleet {
    BenchFleet(name: "renewal", directory: directory)
  }

  /// Creates the org, serves it and writes the pipeline's files; `end` deletes everything.
  init(records: Int, directory: String) throws {
    fleet = Self.fleet(in: directory)
    org = try fleet.makeOrg(users: 1, records: records)
    admin = try BenchFleet.user(BenchFleet.integration, of: org)
    served = try fleet.serve(org)
    try fleet.write()
    try fleet.write(members: #""platforms": ["ios", "android"], "keep": {"generations": 1}"#)
    ids = try BenchFleet.ids(of: ObjectShape.contact.object, in: org, as: admin)
  }

  /// The org's variables for a child that primes.
  var variables: [String: String] { served.variables }

  /// Removes everything that was primed, so that the next prime is a first one.
  func forget() throws {
    if Files.exists(fleet.root) { try Files.remove(fleet.root) }
  }

  /// Moves the org's time by an hour, in which one record in `share` is changed.
  func change(every share: Int) throws {
    try org.moveClock(by: 3_600_000)
    changes += 1
    guard share > 0 else { return }
    try org.transaction {
      for place in stride(from: 0, to: ids.count, by: share) {
        let outcome = org.update(
          ObjectShape.contact.object, id: ids[place], ["Title": .string("changed \(changes)")],
          as: admin)
        guard outcome.id != nil else { throw BenchFailure("\(ids[place]) was not changed") }
      }
    }
    try org.moveClock(by: 3_600_000)
  }

  /// Stops the org and deletes everything.
  func end() throws {
    served.server.stop()
    try Files.remove(fleet.directory)
  }
}
