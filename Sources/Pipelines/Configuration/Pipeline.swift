import JSON
import MobileSync
import Salesforce
import SmartStore

/// One pipeline as its file describes it: every key of docs/configuration.md, with its default.
package struct Pipeline: Sendable {
  /// The newest supported format.
  package static let newestFormat = 1

  /// The file, as named on the command line.
  package var file: String
  /// The quoted word that names the pipeline in a command, for hints and reports.
  ///
  /// It is the short name if that finds this file, otherwise the file's absolute path. The program
  /// adds the data directory that it was called with.
  package var called: String
  /// The file's directory, to which its paths are relative; empty for the working directory.
  package var directory: String
  package var format = newestFormat
  /// The pipeline's name, which is also the name of its directory under `snapshots/`.
  package var name: String
  package var org: OrgSettings
  /// The users whose snapshots are made.
  package var users: UserSelection
  /// The stores of a snapshot, each with its soups and syncs.
  package var stores: [StoreSettings]
  /// The platforms; each has its own store files.
  package var platforms: [Platform]
  /// How records are fetched.
  package var prime: PrimeSettings
  /// How bundles are built.
  package var pack: PackSettings
  /// Where bundles are published; nil for nowhere.
  package var publish: PublishSettings?
  /// How a prime is divided among workers; nil if it is not.
  package var work: WorkSettings?
  /// Where returns arrive.
  package var inbox: InboxSettings
  /// How edits are sent.
  package var reconcile: ReconcileSettings
  package var report: ReportSettings
  /// The notifications at the end of a run.
  package var notify: NotifySettings
  /// How long files of finished runs are kept.
  package var keep = KeepSettings()
  /// The machine resources that a run may use.
  package var limits: LimitSettings

  static let keys = [
    "$schema", "format", "name", "org", "users", "stores", "platforms", "prime", "pack", "publish",
    "work", "inbox", "reconcile", "report", "notify", "keep", "limits",
  ]

  /// The file with every default written out, as `attache check` prints it.
  ///
  /// Secrets are not resolved.
  package var effectiveJSON: JSONValue {
    var object: JSONObject = [
      "format": JSONValue(format), "name": .string(name), "org": org.json, "users": users.json,
      "stores": .array(stores.map(\.json)),
      "platforms": .array(platforms.map { .string($0.rawValue) }), "prime": prime.json,
      "pack": pack.json, "inbox": inbox.json, "reconcile": reconcile.json, "report": report.json,
      "notify": notify.json, "limits": limits.json,
    ]
    if let publish { object["publish"] = publish.json }
    if let work { object["work"] = work.json }
    // The section has no default: only if it is present, runs prune.
    if keep.isAsked { object["keep"] = keep.json }
    return .object(object)
  }

  package func stores(of scope: StoreScope) -> [StoreSettings] {
    stores.filter { $0.scope == scope }
  }

  /// The API features that the pipeline needs and that older API versions lack.
  package var features: Set<APIFeature> {
    let primes = stores.contains { store in
      store.primed.contains { $0.target.of(BriefcaseTarget.self) != nil }
    }
    return primes ? [.records, .briefcases] : [.records]
  }

  /// Whether the login is a single user, as whom the org is read and written for everyone.
  package var isOneUserLogin: Bool { org.login.isOneUser(of: users.source) }
}

extension JSONObject {
  /// An object of the members that have a value.
  static func of(_ members: [(String, JSONValue?)]) -> JSONValue {
    var object = JSONObject()
    for (name, value) in members { object[name] = value }
    return .object(object)
  }
}

extension Pipeline {
  /// The pipeline file and the files that it names: of stores and syncs, users, secrets and
  /// authorities.
  var namedFiles: [String] { [file] + Self.files(in: effectiveJSON) }

  private static func files(in value: JSONValue) -> [String] {
    if let elements = value.array { return elements.flatMap(files) }
    guard let object = value.object else { return [] }
    return object.names.flatMap { name -> [String] in
      guard let member = object[name] else { return [] }
      let isFile = ["schema", "syncs", "file", "caFile"].contains(name)
      return (isFile ? member.string.map { [$0] } : nil) ?? files(in: member)
    }
  }
}
