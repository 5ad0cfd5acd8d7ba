import Crypto
import JSON
import LocalOrg
import Rehearsal
import TestSupport

/// An org that tests copy, because creating its records takes time.
struct OrgTemplate: Sendable {
  static let clientID = "attache-test"
  static let key = Result { try KeyPair() }
  /// About forty records, and three technicians who see different and overlapping ones.
  static let small = Result { try OrgTemplate(make: OrgTemplate.fillSmall) }
  /// The clock of every copy starts here, and advances one second with each record written.
  static let clockStart: Int64 = 1_769_817_600_000
  private let directory: TemporaryDirectory

  struct KeyPair: Sendable {
    let pem: String
    let certificate: [UInt8]
    init() throws {
      let key = try PrivateKey.generateRSA()
      pem = String(decoding: key.pem, as: UTF8.self)
      certificate = try key.selfSignedCertificate(
        commonName: OrgTemplate.clientID, days: 2, dnsNames: [], ipAddresses: [])
    }
  }

  private init(make: (Org) throws -> Void) throws {
    directory = TemporaryDirectory.untilExit("org")
    try make(Org(directory: directory.path, options: .init(clockStart: Self.clockStart)))
  }

  func copy(to path: String) throws { try Tree.copy(directory.path, to: path) }

  // MARK: records

  private static func fillSmall(_ org: Org) throws {
    try org.seed(SeedOptions(scale: 0))
    let admin = try user("admin@example.com", of: org)
    for name in ["Hinge", "Bolt", "Seal"] {
      try create("Product2", ["Name": .string(name), "IsActive": true], as: admin, org)
    }
    var accounts: [String: [String]] = [:]
    for name in ["ada", "ben", "cleo"] {
      accounts[name] = try fill(name, as: user("\(name)@example.com", of: org), org)
    }
    // Each of the three sees an account of the previous one.
    for (owner, other) in [("ada", "ben"), ("ben", "cleo"), ("cleo", "ada")] {
      try org.share(accounts[owner]?.first ?? "", with: "\(other)@example.com")
    }
  }

  /// Creates the records of one technician, and returns the IDs of the accounts.
  private static func fill(_ name: String, as user: OrgUser, _ org: Org) throws -> [String] {
    try (0..<4).map { place in
      let account = try create(
        "Account",
        ["Name": .string("\(name) account \(place)"), "Phone": "+1 555 0100", "Type": "Customer"],
        as: user, org)
      for number in 0..<2 {
        let last = "\(name) contact \(place).\(number)"
        try create(
          "Contact", ["LastName": .string(last), "AccountId": .string(account)], as: user, org)
      }
      let order = try create(
        "WorkOrder", ["Subject": .string("\(name) order \(place)"), "AccountId": .string(account)],
        as: user, org)
      try create(
        "ServiceAppointment",
        [
          "ParentRecordId": .string(order), "EarliestStartTime": "2026-02-02T08:00:00.000+0000",
          "DueDate": "2026-02-03T08:00:00.000+0000",
        ], as: user, org)
      return account
    }
  }

  private static func user(_ username: String, of org: Org) throws -> OrgUser {
    guard let user = org.user(named: username) else { throw RehearsalError.noUser(username) }
    return user
  }

  @discardableResult private static func create(
    _ object: String, _ fields: JSONObject, as user: OrgUser, _ org: Org
  ) throws -> String {
    let outcome = org.create(object, fields, as: user)
    if let error = outcome.errors.first { throw error }
    return outcome.id ?? ""
  }
}
