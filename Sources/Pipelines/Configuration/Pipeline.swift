import JSON
import MobileSync
import Salesforce
import SmartStore

/// One pipeline, as its file says: every key of docs/configuration.md with its default.
package struct Pipeline: Sendable {
  /// The newest format that is understood.
  package static let newestFormat = 1

  /// The file, as it was named on the command line.
  package var file: String
  /// The words that name the pipeline in a command to copy, as a shell reads them: what hints and
  /// reports print behind the verb.
  ///
  /// Its short name where that finds this file, else the file's whole path; the program adds the data
  /// directory that it was called with.
  package var called: String
  /// The file's directory, from which its paths are taken; empty for the working directory.
  package var directory: String
  /// The format of the file.
  package var format = newestFormat
  /// The pipeline's name, which names its directory under `snapshots/` too.
  package var name: String
  /// The org.
  package var org: OrgSettings
  /// Whose snapshots are made.
  package var users: UserSelection
  /// The stores of a snapshot, each with its soups and syncs.
  package var stores: [StoreSettings]
  /// The platforms, one file each.
  package var platforms: [Platform]
  /// How data comes down.
  package var prime: PrimeSettings
  /// How bundles are made.
  package var pack: PackSettings
  /// Where returns arrive.
  package var inbox: InboxSettings
  /// How edits go up.
  package var reconcile: ReconcileSettings
  /// What is written about a run.
  package var report: ReportSettings
  /// Who is told of a run's end.
  package var notify: NotifySettings
  /// What is kept of the nights that are over.
  package var keep = KeepSettings()
  /// What a run may use.
  package var limits: LimitSettings

  static let keys = [
    "$schema", "format", "name", "org", "users", "stores", "platforms", "prime", "pack", "inbox",
    "reconcile", "report", "notify", "keep", "limits",
  ]

  /// The file with every default written out, as `attache check` prints it; secrets stay where they
  /// are.
  package var effectiveJSON: JSONValue {
    var object: JSONObject = [
      "format": JSONValue(format), "name": .string(name), "org": org.json, "users": users.json,
      "stores": .array(stores.map(\.json)),
      "platforms": .array(platforms.map { .string($0.rawValue) }), "prime": prime.json,
      "pack": pack.json, "inbox": inbox.json, "reconcile": reconcile.json, "report": report.json,
      "notify": notify.json, "limits": limits.json,
    ]
    // Not a default: with the section runs remove what is old.
    if keep.isAsked { object["keep"] = keep.json }
    return .object(object)
  }

  /// The stores of one scope.
  package func stores(of scope: StoreScope) -> [StoreSettings] {
    stores.filter { $0.scope == scope }
  }

  /// What the pipeline asks of its org that not every version of the API has.
  package var features: Set<APIFeature> {
    let primes = stores.contains { store in
      store.primed.contains { $0.target.of(BriefcaseTarget.self) != nil }
    }
    return primes ? [.records, .briefcases] : [.records]
  }

  /// Whether one login serves everybody: the org is read and written as that one user.
  package var isOneUserLogin: Bool { org.login.isOneUser(of: users.source) }
}

extension JSONObject {
  /// The members that have a value.
  static func of(_ members: [(String, JSONValue?)]) -> JSONValue {
    var object = JSONObject()
    for (name, value) in members { object[name] = value }
    return .object(object)
  }
}
