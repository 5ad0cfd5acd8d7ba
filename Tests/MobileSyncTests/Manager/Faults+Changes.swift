import JSON
import LocalOrg

extension Faults.Action {
  /// The administrator changes an account, after a time, before the request is answered.
  static func update(_ id: String, _ fields: JSONObject, after milliseconds: Int64 = 0) -> Self {
    .mutate { org in
      guard let admin = org.user(named: "admin@example.com") else { return }
      if milliseconds > 0 { try org.moveClock(by: milliseconds) }
      _ = org.update("Account", id: id, fields, as: admin)
    }
  }

  static func delete(_ id: String) -> Self {
    .mutate { org in
      guard let admin = org.user(named: "admin@example.com") else { return }
      _ = org.delete(nil, id: id, as: admin)
    }
  }
}
