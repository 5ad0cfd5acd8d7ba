import JSON
import LocalOrg
import Salesforce
import System
import TestSupport

import Testing

final class HistoryOrg {
  static let prefix = "in-"
  static let start: Int64 = 1_700_000_000_000
  let setup: HistorySetup
  let org: LocalOrg.Org
  let server: OrgServer
  let admin: OrgUser
  let watch: OrgWatch
  private(set) var ruleID: String?
  private let directory = MemoryDirectory("org")
  private var made = 0
  init(_ setup: HistorySetup) throws {
    self.setup = setup
    let start = LocalOrg.Org.Options(clockStart: Self.start)
    try DirectoryTemplate.copy("convergence", to: directory.file("org")) { template in
      _ = try LocalOrg.Org(directory: template, options: start)
    }
    org = try LocalOrg.Org(directory: directory.file("org"), options: start)
    admin = try #require(org.user(named: "admin@example.com"))
    var options = OrgServer.Options()
    options.writesLog = false
    options.dailyLimit = 1_000_000
    for device in 0..<2 {
      let username = Device.username(device)
      try org.addUser(username, lastName: Device.name(device), profile: "Integration")
      options.clients[Device.name(device)] = OrgServer.Client(secret: "s", username: username)
    }
    if setup.isBriefcase {
      try org.addBriefcase(
        "field", rules: [BriefcaseRule(setup.object, filter: "Name LIKE '\(Self.prefix)%'")],
        users: (0..<2).map(Device.username))
      let ada = try #require(org.user(named: Device.username(0)))
      ruleID = try org.briefcaseRules(of: ada, app: nil).first?.id
    }
    server = try OrgServer(org: org, options: options)
    watch = OrgWatch(org, setup, admin: admin)
    for _ in 0..<6 { try create(at: .now) }
    try watch.look()
  }

  deinit { server.stop() }

  func client(of device: Int) throws -> Salesforce.Org {
    try Salesforce.Org(
      url: server.url,
      credentials: Credentials(
        .clientCredentials(clientID: Device.name(device), secret: Secret("s"))),
      apiVersion: "66.0", concurrency: 4, pause: .none)
  }

  // MARK: Other users

  func create(at moment: Step.Moment) throws {
    made += 1
    var fields: JSONObject = ["Name": .string("\(Self.prefix)org-\(made)")]
    for field in setup.fields { fields[field] = .string("org-\(made)-\(field)") }
    if let externalID = setup.externalID { fields[externalID] = .string("org-\(made)") }
    try at(moment) {
      let outcome = org.create(setup.object, fields, as: admin)
      if let error = outcome.errors.first { throw error }
    }
  }

  /// Changes a record, whose date never goes back.
  func update(_ record: OrgRecord, field: Int, at moment: Step.Moment) throws {
    made += 1
    let value = JSONValue.string("other-\(made)")
    try at(moment) { try change(record.id, [setup.fields[field]: value]) }
  }

  /// Renames a record so that the query no longer finds it.
  func leave(_ record: OrgRecord) throws {
    try change(record.id, ["Name": .string("out-" + record.name)])
  }

  func delete(_ record: OrgRecord) throws {
    if let error = org.delete(setup.object, id: record.id, as: admin).errors.first { throw error }
  }

  private func change(_ id: String, _ fields: JSONObject) throws {
    if let error = org.update(setup.object, id: id, fields, as: admin).errors.first { throw error }
  }

  func moveClock(seconds: Int) throws { try org.moveClock(by: Int64(seconds) * 1000) }

  private func at(_ moment: Step.Moment, _ body: () throws -> Void) throws {
    switch moment {
    case .now: try body()
    case .same:
      try org.setClock(org.now() - 1000)
      try body()
    case .late(let seconds): try org.committingLate(by: Int64(seconds) * 1000, body)
    }
  }
}
