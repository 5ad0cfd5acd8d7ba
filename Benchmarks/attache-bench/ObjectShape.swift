import MobileSync
import SmartStore

/// An object as a workload primes it: its fields and its soup.
struct ObjectShape: Sendable {
  let object: String
  let soup: String
  let fields: [String]
  let indexes: [IndexSpec]
  /// The maximum number of records in a page.
  var pageSize = SoqlTarget.defaultBatchSize

  /// Contacts, with the indexes of an app with one list of them: ten, including SmartStore's own on
  /// `created` and `lastModified`.
  static let contact = ObjectShape(
    object: "Contact", soup: "contacts",
    fields: [
      "Id", "FirstName", "LastName", "Salutation", "Title", "Department", "Phone", "MobilePhone",
      "Email", "MailingStreet", "MailingCity", "MailingPostalCode", "LastModifiedDate",
    ],
    indexes: indexes([("FirstName", .string), ("LastName", .string)]))

  /// An additional full-text index of contacts, on one field.
  static let fullTextIndex = IndexSpec(path: "Title", type: .fullText)

  /// The indexes of every soup that is synced both ways, and those of an object's own paths.
  static func indexes(_ own: [(path: String, type: IndexType)]) -> [IndexSpec] {
    [IndexSpec(path: "Id", type: .string)]
      + own.map { IndexSpec(path: $0.path, type: $0.type) }
      + [
        IndexSpec(path: "__local__", type: .string),
        IndexSpec(path: "__locally_created__", type: .string),
        IndexSpec(path: "__locally_updated__", type: .string),
        IndexSpec(path: "__locally_deleted__", type: .string),
        IndexSpec(path: "__sync_id__", type: .integer),
      ]
  }

  var query: String { "SELECT \(fields.joined(separator: ", ")) FROM \(object)" }

  /// The sync of all records.
  var sync: SyncDefinition {
    SyncDefinition(
      syncName: soup, syncType: .syncDown, soupName: soup,
      target: .soql(SoqlTarget(query: query, maxBatchSize: pageSize)),
      options: SyncOptions(mergeMode: .overwrite))
  }

  /// The statement that the sync sends, to download the same pages.
  func statement() throws -> String { try SoqlTarget(query: query).statement() }
}
