import JSON
import SQLite

private func later<T>() throws -> T {
  throw OrgError(status: 501, code: "NOT_YET", message: "not yet")
}
private let notYet = OrgError(status: 501, code: "NOT_YET", message: "not yet")

struct RecordWriter {
  let store: OrgStore
  let user: OrgUser
  func create(_ object: String, _ fields: JSONObject) throws(OrgError) -> RowOutcome {
    throw notYet
  }
  func update(_ object: String, id: String, _ fields: JSONObject, ifUnmodifiedSince: Int64?)
    throws(OrgError) -> RowOutcome
  { throw notYet }
  func delete(_ object: String?, id: String) throws(OrgError) -> RowOutcome { throw notYet }
  func upsert(_ object: String, externalField: String, value: String?, _ fields: JSONObject)
    throws(OrgError) -> RowOutcome
  { throw notYet }
}
struct RecordReader {
  let store: OrgStore
  let user: OrgUser
  let version: String
  func read(_ object: String, id: String, fields: [String]?) throws -> JSONObject { throw notYet }
  func find(_ object: String, externalField: String, value: String) throws -> String? {
    throw notYet
  }
  func retrieve(_ object: String, ids: [String], fields: [String]) throws -> [UInt8] {
    throw notYet
  }
  func changes(_ object: String, deleted: Bool, from: Int64, to: Int64) throws
    -> [(id: String, date: String)]
  { throw notYet }
}
struct QueryRunner {
  let store: OrgStore
  let user: OrgUser
  let version: String
  func run(_ soql: String, includeDeleted: Bool, batchSize: Int) throws -> QueryPage {
    throw notYet
  }
  func more(_ locator: String, batchSize: Int) throws -> QueryPage { throw notYet }
}
struct PrimingRunner {
  let store: OrgStore
  let user: OrgUser
  let clientID: String?
  func page(changedAfter: Int64?, relayToken: String?, pageSize: Int) throws -> PrimingPage {
    throw notYet
  }
  func ruleList() throws -> [(id: String, object: String)] { throw notYet }
}
enum RelayTokens {
  static func makeTables(_ connection: Connection) throws {}
}
struct Cursors {
  let store: OrgStore
  static func makeTables(_ connection: Connection) throws {}
  func expire() throws {}
}
extension OrgStore {
  func addBriefcase(_ name: String, rules: [BriefcaseRule], users: [String], clientID: String?)
    throws -> String
  { throw notYet }
  func setRuleError(_ ruleID: String, _ failing: Bool) throws { throw notYet }
}
struct Seeder {
  let store: OrgStore
  let options: SeedOptions
  func run() throws { throw notYet }
}
struct BulkSeeder {
  let store: OrgStore
  let seed: UInt64
  func run(object: String, count: Int) throws { throw notYet }
}
struct OrgDump {
  let store: OrgStore
  func lines(objects: [String]?) throws -> String { throw notYet }
}
