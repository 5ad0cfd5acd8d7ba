import Snapshots
import Pipelines
import Salesforce
import SmartStore

extension Provenance {
  /// Throws if the store was issued for another org.
  ///
  /// Returns a warning if it was issued for another user.
  static func checkOwner(of store: Store, _ identity: Session.Identity) throws -> String? {
    guard case .stamp(let stamp) = try read(from: store) else { return nil }
    guard stamp.org == identity.organizationID else {
      throw PipelineError(
        .configuration, "sync.foreign-store",
        "the store was issued for the org \(stamp.org), not for \(identity.organizationID)",
        fix: "log in to that org")
    }
    if stamp.user == globalUser || stamp.user == identity.userID { return nil }
    return "the store was issued for the user \(stamp.user) and is synced as "
      + "\(identity.username): it will contain what that user can see"
  }
}
