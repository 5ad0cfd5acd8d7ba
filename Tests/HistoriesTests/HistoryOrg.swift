import Crypto
import JSON
import LocalOrg
import System
import TestSupport

/// The org of a history: a copy of a small one that is made once.
enum HistoryOrg {
  static let clientID = "attache-histories"
  static let key = Result { try KeyPair() }
  static let clockStart: Int64 = 1_769_817_600_000
  private static let template = Result { try make() }

  struct KeyPair: Sendable {
    let pem: String
    let certificate: [UInt8]
    init() throws {
      let key = try PrivateKey.generateRSA()
      pem = String(decoding: key.pem, as: UTF8.self)
      certificate = try key.selfSignedCertificate(
        commonName: HistoryOrg.clientID, days: 2, dnsNames: [], ipAddresses: [])
    }
  }

  static func open(in directory: String) throws -> Org {
    let source = try template.get().path
    try Files.makeDirectory(directory)
    for name in try Files.list(source) {
      try Files.copy(source + "/" + name, to: directory + "/" + name)
    }
    return try Org(directory: directory, options: .init(clockStart: clockStart))
  }

  /// Two technicians, who see some records of their own and some shared ones.
  private static func make() throws -> TemporaryDirectory {
    let directory = TemporaryDirectory.untilExit("histories-org")
    let org = try Org(directory: directory.path, options: .init(clockStart: clockStart))
    try org.seed(SeedOptions(scale: 0))
    for (name, other) in [("ada", "ben"), ("ben", "ada")] {
      guard let user = org.user(named: name + "@example.com") else {
        throw Violation("the org has no user \(name)")
      }
      for place in 0..<3 {
        let account = try create("Account", "\(name)-\(place)", as: user, org)
        let city: JSONObject = ["BillingCity": .string("Town \(place)")]
        if let error = org.update("Account", id: account, city, as: user).errors.first {
          throw error
        }
        // Both see and change the first of each.
        if place == 0 { try org.share(account, with: other + "@example.com", edit: true) }
      }
      _ = try create("Site_Visit__c", "\(name)-visit", as: user, org)
    }
    return directory
  }

  static func create(
    _ sobject: String, _ name: String, as user: OrgUser, _ org: Org
  ) throws -> String {
    var fields: JSONObject = ["Name": .string(name)]
    for field in Soup.fields(of: sobject) { fields[field] = .string("\(name)-\(field)") }
    if sobject == "Site_Visit__c" { fields["External_Id__c"] = .string("x-\(name)") }
    let outcome = org.create(sobject, fields, as: user)
    if let error = outcome.errors.first { throw error }
    return outcome.id ?? ""
  }
}
