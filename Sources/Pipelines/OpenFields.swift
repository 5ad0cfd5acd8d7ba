import Crypto
import MobileSync
import Salesforce

/// What `FIELDS()` stands for to whoever reads the records of a snapshot.
///
/// A record keeps its date when somebody may no longer read one of its fields, or may from now on: what
/// was stored before would stay as it is. So a snapshot whose fields are others now is primed anew.
enum OpenFields {
  /// The digest of the fields of the objects that queries read by `FIELDS()`; nil where none does.
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
        // The query will be refused, and that is what is told.
        lines.append(object)
      }
    }
    return Digest.sha256Hex(Array(lines.joined(separator: "\n").utf8))
  }
}
