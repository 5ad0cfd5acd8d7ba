import JSON
import LocalOrg
import TestSupport
import Testing

/// An org for one test, with a stepping clock and two technicians.
struct SampleOrg {
  static let start: Int64 = 1_700_000_000_000  // 2023-11-14T22:13:20Z, a Tuesday
  let directory = TemporaryDirectory("org")
  let org: Org
  let admin: OrgUser
  let ada: OrgUser
  let ben: OrgUser
  init() throws {
    org = try Org(directory: directory.path, options: .init(clockStart: Self.start))
    ada = try org.addUser(
      "ada@example.com", firstName: "Ada", lastName: "Abel", profile: "Field Technician")
    ben = try org.addUser(
      "ben@example.com", firstName: "Ben", lastName: "Bloch", profile: "Field Technician")
    admin = try #require(org.user(named: "admin@example.com"))
  }

  @discardableResult
  func make(_ object: String, _ fields: JSONObject, as user: OrgUser? = nil) throws -> String {
    let outcome = org.create(object, fields, as: user ?? admin)
    if let error = outcome.errors.first { throw error }
    return try #require(outcome.id)
  }

  func records(_ soql: String, as user: OrgUser? = nil, all: Bool = false) throws -> [JSONValue] {
    let page = try org.query(soql, as: user ?? admin, includeDeleted: all)
    return try #require(try JSONValue(parsing: page.records).array)
  }

  func column(_ soql: String, _ field: String = "Name", as user: OrgUser? = nil, all: Bool = false)
    throws -> [String]
  { try records(soql, as: user, all: all).map { $0[field]?.string ?? $0[field]?.text ?? "-" } }
}
