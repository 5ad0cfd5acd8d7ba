import Crypto
import MobileSync
import Salesforce

/// The fields that `FIELDS()` selects for the user who reads a snapshot.
///
/// When a user loses or gains access to a field, the record's modification date does not change,
/// and its stored copy would stay as it is. If the set of fields has changed, the snapshot is
/// primed from scratch.
enum OpenFields {
  /// Returns a digest of the fields of all objects that queries read by `FIELDS()`; nil if no query
  /// does.
  static func digest(_ stores: [StoreSettings], as session: Session) async throws(OrgError)
    -> String?
  {
    var objects: Set<String> = []
    for sync in stores.flatMap(\.primed) {
      guard let target = sync.target.of(SoqlTarget.self), let query = try? SOQLText(target.query),
        query.selectsOpenly
      else { continue }
      objects.insert(query.objectName)
    }
    guard !objects.isEmpty else { return nil }
    var lines: [String] = []
    for object in objects.sorted() {
      do throws(OrgError) {
        let fields = try await session.describe(object).fields
        lines.append(object + " " + fields.map(\.name).sorted().joined(separator: " "))
      } catch  where error.kind == .notFound {
        // The query itself will be refused, and that error is reported.
        lines.append(object)
      }
    }
    return Digest.sha256Hex(Array(lines.joined(separator: "\n").utf8))
  }
}
