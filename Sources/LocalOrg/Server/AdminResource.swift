import Crypto
import HTTP
import JSON
import System

/// Serves `/attache/…`: the operations that an administrator or a user would do in the org itself.
///
/// Tests and dry runs in other processes use it; it requires the secret with which the server was
/// started.
struct AdminResource: Sendable {
  let org: Org
  let sessions: Sessions
  let refreshTokens: RefreshTokens
  let log: RequestLog
  let faults: Faults
  let secret: String?

  func answer(_ request: ServerRequest, _ target: Target) -> APIResponse {
    guard isOpen(to: request) else { return .failure([.notFound]) }
    do throws(OrgError) {
      return try perform(target, request.body)
    } catch {
      return .failure([error])
    }
  }

  /// Whether a request has the secret.
  func isOpen(to request: ServerRequest) -> Bool {
    let given = request.headers["X-Attache-Admin"] ?? ""
    guard let secret, !secret.isEmpty else { return false }
    return Digest.areEqual(Digest.sha256(Array(given.utf8)), Digest.sha256(Array(secret.utf8)))
  }

  private func perform(_ target: Target, _ body: [UInt8]) throws(OrgError) -> APIResponse {
    let path = target.segments.dropFirst().joined(separator: "/")
    switch (target.method, path) {
    case ("GET", "log"):
      let after = target.query("after").flatMap { Int($0) } ?? 0
      return .json(.array(log.entries(after: after).map(\.json)))
    case ("GET", "log/totals"):
      let totals = log.totals(after: target.query("after").flatMap { Int($0) } ?? 0)
      return .json([
        "requests": JSONValue(totals.requests), "calls": JSONValue(totals.calls),
        "records": JSONValue(totals.records), "ids": JSONValue(totals.ids),
        "bytes": JSONValue(totals.bytes),
      ])
    case ("POST", "faults"):
      let order = try FaultOrder(object(body))
      faults.add(order.match, nth: order.nth, times: order.times, order.action)
    case ("DELETE", "faults"): faults.removeAll()
    case ("POST", "sessions/expire"): sessions.revokeAll()
    case ("POST", "share"):
      let body = try object(body)
      try org.share(
        try text("record", body), with: try text("user", body), edit: body["edit"]?.bool ?? true)
    case ("POST", "unshare"):
      let body = try object(body)
      try org.unshare(try text("record", body), from: try text("user", body))
    case ("POST", "lock"):
      let body = try object(body)
      try org.lock(try text("record", body), body["locked"]?.bool ?? true)
    case ("POST", "merge"):
      let body = try object(body)
      try org.merge(try text("record", body), into: try text("into", body))
    case ("POST", "purge"): try org.purge(text("record", object(body)))
    case ("POST", "undelete"): try org.undelete(text("record", object(body)))
    case ("POST", "users"):
      let body = try object(body)
      try org.setActive(try text("user", body), body["active"]?.bool ?? true)
    case ("POST", "refresh-tokens"):
      let body = try object(body)
      let grant = RefreshTokens.Grant(
        username: try text("user", body), clientID: try text("app", body))
      guard org.user(named: grant.username) != nil else { throw .notFound }
      return .json(["refresh_token": .string(refreshTokens.issue(grant))])
    case ("POST", "clock"): try setClock(object(body))
    case ("PUT", "setup"): try setUp(body)
    default: throw .notFound
    }
    return .empty(204)
  }

  /// Replaces the setup with that of a file.
  private func setUp(_ body: [UInt8]) throws(OrgError) {
    let setup: OrgSetup
    do {
      setup = try OrgSetup(parsing: body)
    } catch {
      throw OrgError(code: "INVALID_INPUT", message: error.description)
    }
    try org.setUp(setup)
  }

  /// Reads `{"to": "2024-01-31T12:00:00Z", "moveBy": -60, "step": 0}`, with numbers in seconds.
  private func setClock(_ body: JSONObject) throws(OrgError) {
    if let text = body["to"]?.string {
      guard let time = Dates.milliseconds(iso8601: text) else {
        throw OrgError(code: "INVALID_INPUT", message: "to is not a date and time")
      }
      try org.setClock(time)
    }
    if let seconds = try seconds("moveBy", body) { try org.moveClock(by: seconds * 1000) }
    if let seconds = try seconds("step", body) { try org.setClockStep(seconds * 1000) }
  }

  private func seconds(_ name: String, _ body: JSONObject) throws(OrgError) -> Int64? {
    guard let seconds = body[name]?.int else { return nil }
    guard let number = Int(exactly: seconds), FaultOrder.century.contains(number) else {
      throw OrgError(code: "INVALID_INPUT", message: "\(name) exceeds a century")
    }
    return seconds
  }

  private func object(_ body: [UInt8]) throws(OrgError) -> JSONObject {
    do {
      if let object = try JSONValue(parsing: body).object { return object }
    } catch {
      throw .unreadableBody("\(error)")
    }
    throw .unreadableBody("The body must be a JSON object")
  }

  private func text(_ name: String, _ body: JSONObject) throws(OrgError) -> String {
    guard let text = body[name]?.string else {
      throw OrgError(code: "MISSING_ARGUMENT", message: "\(name) is missing")
    }
    return text
  }
}
