import JSON

/// A fault requested by another process: the requests it affects, when, and one action.
///
/// `{"kind":"query","nth":2,"times":1,"status":503,"code":"SERVER_UNAVAILABLE"}`
struct FaultOrder: Sendable {
  let match: FaultMatch
  let nth: Int
  let times: Int
  let action: Faults.Action

  /// The allowed members.
  private static let members = [
    "kind", "method", "pathPrefix", "write", "user", "nth", "times", "status", "code",
    "afterCommit", "drop", "truncate", "deliverLate", "delay", "shortPage", "nullEntry",
    "nullPlace", "ruleError", "object", "expireSession", "expireCursors", "limitExceeded",
    "interrupt", "refusePart", "delayPart", "commitLate", "moveClock", "update", "fields", "delete",
  ]

  init(_ order: JSONObject) throws(OrgError) {
    if let unknown = order.names.first(where: { !Self.members.contains($0) }) {
      throw Self.refusal(
        "\(unknown) is not a member of a fault; use \(Self.members.joined(separator: ", "))")
    }
    var match = FaultMatch()
    if let name = order["kind"]?.string {
      guard let kind = RequestKind(rawValue: name) else {
        throw Self.refusal(
          "kind is one of \(RequestKind.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      match.kind = kind
    }
    match.method = order["method"]?.string
    match.pathPrefix = order["pathPrefix"]?.string
    match.isWrite = order["write"]?.bool
    match.user = order["user"]?.string
    self.match = match
    nth = order["nth"]?.int.flatMap { Int(exactly: $0) } ?? 1
    times = order["times"]?.int.flatMap { Int(exactly: $0) } ?? 1
    action = try Self.action(order)
  }

  private static func action(_ order: JSONObject) throws(OrgError) -> Faults.Action {
    func number(_ name: String) -> Int? { order[name]?.int.flatMap { Int(exactly: $0) } }
    let isAfter = order["afterCommit"]?.bool ?? false
    if let action = partAction(order, number) ?? orgAction(order, number) { return action }
    if let status = number("status"), (200...599).contains(status) {
      return .status(
        status, code: order["code"]?.string ?? "UNKNOWN_EXCEPTION", afterCommit: isAfter)
    }
    if order["drop"]?.bool == true { return .drop(afterCommit: isAfter) }
    if let bytes = number("truncate") { return .truncate(bytes: bytes) }
    if let seconds = number("deliverLate"), century.contains(seconds) {
      return .deliverLate(seconds: seconds)
    }
    if let milliseconds = number("delay") { return .delay(milliseconds: milliseconds) }
    if let records = number("shortPage"), records > 0 { return .shortPage(records: records) }
    if let id = order["nullEntry"]?.string { return .nullEntry(id: id) }
    if let place = number("nullPlace") { return .nullPlace(place) }
    if let id = order["ruleError"]?.string {
      return .ruleError(ruleID: id, object: order["object"]?.string)
    }
    if order["expireSession"]?.bool == true { return .expireSession }
    if order["expireCursors"]?.bool == true { return .expireCursors }
    if order["limitExceeded"]?.bool == true { return .limitExceeded }
    throw refusal(
      "name one of status, drop, truncate, delay, deliverLate, shortPage, nullEntry, nullPlace, "
        + "ruleError, expireSession, expireCursors, limitExceeded, interrupt, refusePart, "
        + "delayPart, commitLate, moveClock, update, delete")
  }

  /// Reads an action on one part of a composite request.
  private static func partAction(_ order: JSONObject, _ number: (String) -> Int?)
    -> Faults.Action?
  {
    let code = order["code"]?.string
    if let parts = number("interrupt") {
      return .interrupt(
        afterParts: parts, status: number("status") ?? 503, code: code ?? "SERVER_UNAVAILABLE",
        drops: order["drop"]?.bool ?? false)
    }
    if let part = number("refusePart") {
      return .refusePart(
        part, status: number("status") ?? 400, code: code ?? "UNKNOWN_EXCEPTION")
    }
    if let part = number("delayPart"), let milliseconds = number("delay") {
      return .delayPart(part, milliseconds: milliseconds)
    }
    return nil
  }

  /// The maximum number of seconds by which the org's clock may be moved.
  static let century = -3_200_000_000...3_200_000_000

  /// Reads an action on the org itself: its clock, or another user's change.
  private static func orgAction(_ order: JSONObject, _ number: (String) -> Int?)
    -> Faults.Action?
  {
    if let seconds = number("commitLate"), century.contains(seconds) {
      return .commitLate(seconds: seconds)
    }
    if let seconds = number("moveClock"), century.contains(seconds) {
      return .moveClock(seconds: seconds)
    }
    if let id = order["delete"]?.string {
      return .mutate { org in
        guard let user = org.administrator else { throw OrgError.notFound }
        if let error = org.delete(nil, id: id, as: user).errors.first { throw error }
      }
    }
    if let id = order["update"]?.string, let fields = order["fields"]?.object {
      return .mutate { org in
        guard let user = org.administrator, let schema = org.schema(ofID: id) else {
          throw OrgError.notFound
        }
        let outcome = org.update(schema.name, id: id, fields, as: user)
        if let error = outcome.errors.first { throw error }
      }
    }
    return nil
  }

  private static func refusal(_ message: String) -> OrgError {
    OrgError(code: "INVALID_INPUT", message: message)
  }
}
