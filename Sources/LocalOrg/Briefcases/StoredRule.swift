import SQLite

/// A rule of a briefcase as stored in the org.
struct StoredRule {
  let id: String
  let object: String
  let scope: String?
  let filter: String?
  let orderBy: String?
  let ascending: Bool
  let limit: Int
  let parentID: String?
  let relationship: String?
  /// Whether a test has made it fail.
  let isBroken: Bool
}

extension OrgStore {
  /// Returns the rules assigned to a user and an app, each parent before its related rules.
  func rules(of user: OrgUser, clientID: String?) throws -> [StoredRule] {
    let sql: SQL = """
      SELECT DISTINCT r."seq", r."Id", r."TargetEntity", r."QueryScope", r."FilterCondition",
        r."OrderBy", r."IsAscendingOrder", r."RecordLimit", r."ParentRuleId",
        r."RelationshipField", EXISTS (SELECT 1 FROM rule_error e WHERE e.rule = r."Id")
      FROM "o_BriefcaseAssignment" a
      JOIN "o_BriefcaseDefinition" d ON d."Id" = a."BriefcaseId"
      JOIN "o_BriefcaseRule" r ON r."BriefcaseId" = d."Id"
      WHERE a."UserOrGroupId" = \(user.id) AND a."IsDeleted" = 0
        AND (a."ConsumerKey" IS NULL OR a."ConsumerKey" = \(clientID))
        AND d."IsDeleted" = 0 AND d."IsActive" = 1 AND r."IsDeleted" = 0
      ORDER BY r."seq"
      """
    return try connection.all(sql).map { row in
      StoredRule(
        id: row[1].text ?? "", object: row[2].text ?? "", scope: row[3].text, filter: row[4].text,
        orderBy: row[5].text, ascending: row[6].integer != 0, limit: Int(row[7].integer ?? 500),
        parentID: row[8].text, relationship: row[9].text, isBroken: row[10].integer == 1)
    }
  }

  func addBriefcase(_ name: String, rules: [BriefcaseRule], users: [String], clientID: String?)
    throws -> String
  {
    let admin = OrgStore.administratorID
    let now = clock.now() / 1000 * 1000
    let id = try insert(
      "BriefcaseDefinition",
      ["DeveloperName": .text(name), "MasterLabel": .text(name), "IsActive": 1], by: admin, at: now)
    for rule in rules { try add(rule, to: id, parent: nil, by: admin, at: now) }
    for username in users {
      try insert(
        "BriefcaseAssignment",
        [
          "BriefcaseId": .text(id), "UserOrGroupId": .text(try user(named: username).id),
          "ConsumerKey": clientID.map { .text($0) } ?? .null,
        ], by: admin, at: now)
    }
    return id
  }

  private func add(
    _ rule: BriefcaseRule, to briefcase: String, parent: String?, by admin: String, at now: Int64
  ) throws {
    guard catalog.object(rule.object) != nil else { throw OrgError.unknownObject(rule.object) }
    if let filter = rule.filter { _ = try SOQLParser.condition(filter) }
    let text = { (value: String?) -> SQLiteValue in value.map { .text($0) } ?? .null }
    let id = try insert(
      "BriefcaseRule",
      [
        "BriefcaseId": .text(briefcase), "TargetEntity": .text(rule.object),
        "QueryScope": .text(rule.mine ? "mine" : "everything"),
        "FilterCondition": text(rule.filter), "OrderBy": text(rule.orderBy),
        "IsAscendingOrder": .integer(rule.ascending ? 1 : 0),
        "RecordLimit": .integer(Int64(rule.limit)), "ParentRuleId": text(parent),
        "RelationshipField": text(rule.relationship),
      ], by: admin, at: now)
    for related in rule.related { try add(related, to: briefcase, parent: id, by: admin, at: now) }
  }

  func setRuleError(_ ruleID: String, _ failing: Bool) throws {
    let id = try known(ruleID)
    if failing {
      try connection.run("INSERT OR REPLACE INTO rule_error (rule) VALUES (\(id))")
    } else {
      try connection.run("DELETE FROM rule_error WHERE rule = \(id)")
    }
  }
}
