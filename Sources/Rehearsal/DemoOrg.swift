import Crypto
import JSON
import LocalOrg
import System

/// The local org of a demo: seeded, served on a free port, with a connected app whose key pair is
/// generated.
package final class DemoOrg: Sendable {
  /// The client ID of the connected app.
  package static let clientID = "attache-demo"
  private static let quietMilliseconds: Int64 = 600_000
  package let org: Org
  package let server: OrgServer
  /// The locks of the demo's directories, released when the org is stopped.
  private let locks: [FileLock]
  /// The variables of the pipeline file: the URL, the client ID and the key.
  package let variables: [String: String]

  /// Creates and serves an org in `directory`, which must be empty.
  package init(
    directory: String, scale: Int = 1, clockStart: Int64? = nil, locks: [FileLock] = []
  ) throws {
    self.locks = locks
    org = try Org(directory: directory, options: .init(clockStart: clockStart, hasOwnID: true))
    // Put the seed well before the first run, or the second one would read the latest records
    // again.
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

  /// Stops the server, and releases the directories.
  package func stop() {
    server.stop()
    for lock in locks { lock.close() }
  }

  /// Returns a user.
  ///
  /// Throws if the user does not exist.
  package func user(_ username: String) throws -> OrgUser {
    guard let user = org.user(named: username) else { throw RehearsalError.noUser(username) }
    return user
  }

  /// Changes a record as another user of the org.
  package func change(_ object: String, _ id: String, _ fields: JSONObject) throws {
    let admin = try user(OrgUser.adminUsername)
    if let error = org.update(object, id: id, fields, as: admin).errors.first { throw error }
  }

  /// Deletes a record as another user of the org.
  package func delete(_ object: String, _ id: String) throws {
    let admin = try user(OrgUser.adminUsername)
    if let error = org.delete(object, id: id, as: admin).errors.first { throw error }
  }

  /// Returns the IDs that a user's briefcases currently contain, by object.
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

  /// Returns the SystemModstamp of every record of the objects that is not deleted.
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
