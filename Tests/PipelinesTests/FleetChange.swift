import JSON
import LocalOrg

/// A change of a fleet's org; one that the org refuses, such as that of a deleted record, changes
/// nothing.
enum FleetChange: Sendable {
  case update(String, JSONObject)
  case share(String, String)
  case unshare(String, [String])
  case transfer(String, String)
  case delete(String)
  case restore(String)
  case setUp(FleetRights)

  func make(in org: Org) {
    guard let admin = org.user(named: OrgUser.adminUsername) else { return }
    switch self {
    case .update(let id, let fields): _ = org.update("Contact", id: id, fields, as: admin)
    case .share(let id, let user): try? org.share(id, with: user)
    case .unshare(let id, let users): for user in users { try? org.unshare(id, from: user) }
    case .transfer(let id, let user): try? org.transfer(id, to: user)
    case .delete(let id): _ = org.delete("Contact", id: id, as: admin)
    case .restore(let id): _ = org.undelete(id, as: admin)
    case .setUp(let rights):
      do {
        try org.setUp(OrgSetup(parsing: Array(rights.text.utf8)))
      } catch {
        preconditionFailure("\(error)")
      }
    }
  }
}
