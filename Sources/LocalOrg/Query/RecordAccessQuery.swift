import JSON

/// `UserRecordAccess`: a user's access to records, queried by their IDs.
///
/// It is not an object with rows: an org computes it, for one user and at most 200 IDs in the
/// condition (Object Reference, "UserRecordAccess"). Records that the user may not read are
/// omitted.
struct RecordAccessQuery {
  static let name = "UserRecordAccess"
  /// The maximum number of IDs in one statement.
  static let mostIDs = 200

  let store: OrgStore
  let user: OrgUser

  func run(_ query: SOQLQuery) throws -> QueryPage {
    let (userID, ids) = try condition(query)
    guard userID == user.id || user.viewsAll,
      let asked = try store.users(where: "u.\"Id\" = \(userID)").first
    else {
      return QueryPage(totalSize: 0, locator: nil, records: Array("[]".utf8), count: 0)
    }
    let fields = try query.selections.map { selection -> String in
      guard case .field(let path, _) = selection else { throw Self.wrongCondition }
      return path.text
    }
    let access = Access(store: store, user: asked)
    var records: [JSONValue] = []
    for id in ids {
      guard let id = OrgID.normalize(id), let schema = store.catalog.object(ofID: id) else {
        continue
      }
      let level = try access.level(schema, id: id)
      if level == .none || level == .deleted { continue }
      var record: JSONObject = [
        "attributes": ["type": .string(Self.name)]
      ]
      let mayDelete = store.catalog(of: asked).object(schema.name)?.rights.deletes == true
      for field in fields { record[field] = try Self.value(field, id, level, mayDelete) }
      records.append(.object(record))
    }
    return QueryPage(
      totalSize: records.count, locator: nil, records: JSONValue.array(records).bytes,
      count: records.count)
  }

  private static func value(
    _ field: String, _ id: String, _ level: Access.Level, _ mayDelete: Bool
  ) throws -> JSONValue {
    switch field.lowercased() {
    case "recordid": .string(id)
    case "hasreadaccess": true
    case "haseditaccess": .bool(level != .read)
    case "hasdeleteaccess", "hasallaccess": .bool(level == .full && mayDelete)
    case "hastransferaccess": .bool(level == .full)
    default:
      throw OrgError(
        code: "INVALID_FIELD", message: "No such column '\(field)' on entity '\(name)'")
    }
  }

  /// `UserId = …` and `RecordId = …` or `RecordId IN (…)`.
  private func condition(_ query: SOQLQuery) throws -> (userID: String, ids: [String]) {
    guard case .and(let parts)? = query.condition, parts.count == 2 else {
      throw Self.wrongCondition
    }
    var userID: String?
    var ids: [String]?
    for part in parts {
      switch part {
      case .compare(let path, .equal, .text(let id)) where path.text.lowercased() == "userid":
        userID = OrgID.normalize(id)
      case .compare(let path, .equal, .text(let id)) where path.text.lowercased() == "recordid":
        ids = [id]
      case .inList(let path, let list, negated: false) where path.text.lowercased() == "recordid":
        ids = list.compactMap { if case .text(let id) = $0 { id } else { nil } }
      default: throw Self.wrongCondition
      }
    }
    guard let userID, let ids else { throw Self.wrongCondition }
    guard ids.count <= Self.mostIDs else {
      throw OrgError(
        code: "EXCEEDED_ID_LIMIT",
        message: "a query of \(Self.name) names at most \(Self.mostIDs) records")
    }
    return (userID, ids)
  }

  private static let wrongCondition = OrgError(
    code: "MALFORMED_QUERY",
    message:
      "a query of \(name) needs the conditions UserId = and RecordId = or IN, and nothing else")
}
