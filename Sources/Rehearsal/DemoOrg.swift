import Crypto
import JSON
import LocalOrg
import System

/// A local org of a demo's own: seeded, served on a free port, with a connected app whose key pair is
/// made on the spot.
package final class DemoOrg: Sendable {
  /// The client id of the app.
  package static let clientID = "attache-demo"
  private static let quietMilliseconds: Int64 = 600_000
  /// The org.
  package let org: Org
  /// Its server.
  package let server: OrgServer
  /// What a pipeline file reads: the URL, the client id and the key.
  package let variables: [String: String]

  /// Makes and serves an org in `directory`, which must be empty.
  package init(directory: String, scale: Int = 1, clockStart: Int64? = nil) throws {
    org = try Org(directory: directory, options: .init(clockStart: clockStart))
    // Nothing changes right before the first night: that would be read once more by the second.
    try org.moveClock(by: -Self.quietMilliseconds)
    try org.seed(SeedOptions(scale: scale))
    try org.moveClock(by: Self.quietMilliseconds)
    let key = try PrivateKey.generateRSA()
    let certificate = try key.selfSignedCertificate(
      commonName: Self.clientID, days: 2, dnsNames: [], ipAddresses: [])
    var options = OrgServer.Options()
    options.apps = [Self.clientID: certificate]
    server = try OrgServer(org: org, options: options)
    variables = [
      "ATTACHE_ORG_URL": server.url, "ATTACHE_CLIENT_ID": Self.clientID,
      "ATTACHE_JWT_KEY": String(decoding: key.pem, as: UTF8.self),
    ]
  }

  /// Stops serving.
  package func stop() { server.stop() }

  /// A user who must be there.
  package func user(_ username: String) throws -> OrgUser {
    guard let user = org.user(named: username) else { throw RehearsalError.noUser(username) }
    return user
  }

  /// Changes a record as somebody else in the office does.
  package func change(_ object: String, _ id: String, _ fields: JSONObject) throws {
    let admin = try user(OrgUser.adminUsername)
    if let error = org.update(object, id: id, fields, as: admin).errors.first { throw error }
  }

  /// Deletes a record as somebody else does.
  package func delete(_ object: String, _ id: String) throws {
    let admin = try user(OrgUser.adminUsername)
    if let error = org.delete(object, id: id, as: admin).errors.first { throw error }
  }

  /// The ids that a user's briefcases hold now, by object.
  package func briefcase(of username: String) throws -> [String: Set<String>] {
    let user = try user(username)
    var ids: [String: Set<String>] = [:]
    var token: String?
    repeat {
      let page = try org.primingRecords(as: user, app: Self.clientID, relayToken: token)
      for entry in page.entries { ids[entry.object, default: []].insert(entry.id) }
      token = page.relayToken
    } while token != nil
    return ids
  }

  /// The SystemModstamp of every record of the objects, deleted ones left out.
  package func stamps(of objects: [String]) throws -> [String: String] {
    let admin = try user(OrgUser.adminUsername)
    var stamps: [String: String] = [:]
    for object in objects {
      var page = try org.query("SELECT Id, SystemModstamp FROM \(object)", as: admin)
      while true {
        for record in try JSONValue(parsing: page.records).array ?? [] {
          if let id = record["Id"]?.string { stamps[id] = record["SystemModstamp"]?.string ?? "" }
        }
        guard let locator = page.locator else { break }
        page = try org.queryMore(locator, as: admin)
      }
    }
    return stamps
  }
}
