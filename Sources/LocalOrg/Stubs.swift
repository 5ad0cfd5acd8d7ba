import JSON
import SQLite

private func later<T>() throws -> T {
  throw OrgError(status: 501, code: "NOT_YET", message: "not yet")
}
private let notYet = OrgError(status: 501, code: "NOT_YET", message: "not yet")

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
