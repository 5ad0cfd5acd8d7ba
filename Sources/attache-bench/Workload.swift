import Snapshots
import MobileSync
import Salesforce
import SmartStore
import System

/// What is primed: contacts, with the indexes that an app with one list of them has.
enum Workload {
  static let object = "Contact"
  static let soup = "contacts"
  static let storeName = "contacts"

  /// Ten indexes together with SmartStore's own on `created` and `lastModified`.
  static let indexes = [
    IndexSpec(path: "Id", type: .string),
    IndexSpec(path: "FirstName", type: .string),
    IndexSpec(path: "LastName", type: .string),
    IndexSpec(path: "__local__", type: .string),
    IndexSpec(path: "__locally_created__", type: .string),
    IndexSpec(path: "__locally_updated__", type: .string),
    IndexSpec(path: "__locally_deleted__", type: .string),
    IndexSpec(path: "__sync_id__", type: .integer),
  ]

  /// One more, of all words of a field.
  static let fullTextIndex = IndexSpec(path: "Title", type: .fullText)

  static let fields = [
    "Id", "FirstName", "LastName", "Salutation", "Title", "Department", "Phone", "MobilePhone",
    "Email", "MailingStreet", "MailingCity", "MailingPostalCode", "LastModifiedDate",
  ]

  static let query = "SELECT \(fields.joined(separator: ", ")) FROM \(object)"

  /// The sync of all contacts.
  static var sync: SyncDefinition {
    SyncDefinition(
      syncName: "contacts", syncType: .syncDown, soupName: soup,
      target: .soql(SoqlTarget(query: query)), options: SyncOptions(mergeMode: .overwrite))
  }

  /// The store on these platforms, in files of this directory.
  static func store(
    in directory: String, _ platforms: [Platform] = Platform.allCases, hasFullText: Bool = false
  ) -> PrimeStore {
    let all = indexes + (hasFullText ? [fullTextIndex] : [])
    return PrimeStore(
      storeName: storeName,
      config: StoreConfig(soups: [StoreConfig.Soup(soupName: soup, indexes: all)]),
      syncs: [sync],
      files: Dictionary(
        uniqueKeysWithValues: platforms.map {
          ($0, PrimeFile(new: "\(directory)/\($0.rawValue).db"))
        }))
  }

  /// The statement that the sync sends, for a download of the same pages.
  static func statement() throws -> String {
    try SoqlTarget(query: query).statement()
  }

  /// A session at the org of `OrgChild`.
  static func session(_ options: BenchOptions) async throws -> Session {
    guard let token = ProcessEnvironment.variable(BenchOptions.tokenVariable) else {
      throw BenchFailure("the variable \(BenchOptions.tokenVariable) is not set")
    }
    let org = try Org(url: options.url, credentials: .accessToken(token))
    return try await org.session()
  }
}

/// A bench that cannot go on.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
