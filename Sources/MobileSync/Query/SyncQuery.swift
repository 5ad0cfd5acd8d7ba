import Salesforce
import System

/// The queries of a `soql` target: the text that a device stores and the queries that are sent to
/// the org.
package struct SyncQuery: Sendable, Hashable {
  /// A position in the order of modification date and ID.
  package struct Key: Sendable, Hashable {
    /// The modification date as a SOQL literal.
    var modified: String
    var id: String

    package init(modified: String, id: String) {
      self.modified = modified
      self.id = id
    }
  }

  /// The query as stored in `syncs_soup`, in a form that both SDKs parse and page through
  /// correctly.
  package let stored: String
  let idField: String
  let modificationField: String
  private(set) var soql: SOQLText
  /// Fields that lists have besides the ID and the date.
  private var listed: [String] = []

  /// Parses a target's query and adds what a sync needs.
  ///
  /// Like the SDK, it adds the modification date and the ID to the select list and an ORDER BY if
  /// they are missing; a query that lacks nothing keeps its text. Beyond the SDK, line breaks
  /// become spaces, `id` becomes `Id`, a WHERE with an OR is put in parentheses because the device
  /// prepends a condition to it, and a WITH gets a WHERE before it.
  package init(
    _ query: String, idField: String = TargetFields().idFieldName,
    modificationField: String = TargetFields().modificationDateFieldName
  ) throws(SyncError) {
    self.idField = idField
    self.modificationField = modificationField
    let plain = SOQLText.spacesOnly(query)
    var soql = try SyncError.inQuery { try SOQLText(plain) }
    if soql[.groupBy] != nil {
      throw SyncError(
        .definition, "the query groups its rows, so they have no ID",
        fix: "sync the rows themselves, without GROUP BY")
    }
    let original = soql
    for field in [modificationField, idField] {
      if soql.selects(field) { soql.spellField(field) } else { soql.addField(field) }
    }
    soql.closeConditions()
    // The SDK's parsers treat WITH as part of the preceding clause and put a WHERE after it.
    if soql[.with] != nil, soql[.where] == nil { soql[.where] = "\(idField) != null" }
    if soql[.orderBy] == nil { soql[.orderBy] = modificationField }
    stored = soql == original ? plain : soql.text
    self.soql = soql
  }

  /// Whether the device may advance its cursor after every page.
  var isSortedByModification: Bool { soql.isOrdered(by: modificationField) }

  /// Whether LIMIT or OFFSET limits the result.
  var isBounded: Bool { soql.isBounded }
  var limit: Int? { soql.limit }
  var hasOffset: Bool { soql[.offset] != nil }
  var objectName: String { soql.objectName }

  /// Whether paging can resume after a given record.
  package var canResume: Bool { !isBounded }

  /// Returns the query with a further condition; nil adds none.
  func within(_ condition: String?) -> SyncQuery {
    guard let condition else { return self }
    var query = self
    query.soql.addCondition(condition)
    return query
  }

  /// Returns the query with a further field after the others.
  func selecting(_ field: String) -> SyncQuery {
    var query = self
    query.soql[.select] = soql[.select].map { "\($0), \(field)" } ?? field
    return query
  }

  /// Returns the query with further fields in its lists.
  func listing(_ fields: [String]) -> SyncQuery {
    var query = self
    query.listed = fields
    return query
  }

  /// Returns the query with another field as the modification date.
  func dated(by field: String) throws(SyncError) -> SyncQuery {
    try SyncQuery(stored, idField: idField, modificationField: field)
  }

  /// The order by modification date and ID, so that records with equal dates have a stable order.
  var order: String {
    modificationField == idField ? idField : "\(modificationField), \(idField)"
  }

  /// Returns the query that fetches records: all of them, those changed after `since`, or those
  /// after `key`.
  ///
  /// Without LIMIT, the records arrive in `order`, so a lost query locator costs only its last
  /// page.
  ///
  /// `limit` limits a query without a LIMIT; `idsOnly` selects only the IDs.
  package func fetch(
    since: Int64? = nil, after key: Key? = nil, limit: Int? = nil, idsOnly: Bool = false
  ) -> String {
    var query = soql
    if idsOnly { query[.select] = idField }
    if let since { query.addCondition("\(modificationField) > \(SOQLLiteral.date(since))") }
    if canResume {
      query[.orderBy] = order
      if let key { query.addCondition(condition(after: key)) }
      if let limit { query[.limit] = String(limit) }
    }
    return query.text
  }

  /// What a query for records with given IDs selects.
  package enum Content {
    case records, ids, dates
  }

  /// Returns the query for those records with these IDs that match.
  ///
  /// LIMIT and OFFSET are omitted, because they count all matches.
  package func fetch(among ids: [String], _ content: Content = .records) -> String {
    var query = soql
    switch content {
    case .records: break
    case .ids: query[.select] = idField
    case .dates: query[.select] = datedID
    }
    query.addCondition("\(idField) in (\(SOQLLiteral.list(ids)))")
    for clause in [SOQLText.Clause.orderBy, .limit, .offset] { query[clause] = nil }
    return query.text
  }

  package var ids: String { list(of: idField) }

  /// The query for the IDs and modification dates of all records that match now.
  var listing: String { list(of: datedID) }

  private var datedID: String {
    modificationField == idField ? idField : "\(idField), \(modificationField)"
  }

  private func list(of fields: String) -> String {
    var query = soql
    query[.select] = ([fields] + listed).joined(separator: ", ")
    query[.orderBy] = nil
    return query.text
  }

  package static func count(of text: String) throws(SyncError) -> String {
    var query = try SyncError.inQuery { try SOQLText(text) }
    query[.select] = "COUNT()"
    query[.orderBy] = nil
    return query.text
  }

  /// Returns the query for the IDs of the records deleted after `since`, for `queryAll`.
  ///
  /// The target's own conditions are omitted: a record may have stopped matching before it was
  /// deleted, and an ID that no store contains does no harm.
  package func deleted(since: Int64) -> String {
    "select \(idField) from \(objectName) where \(Self.deletedCondition(since: since))"
  }

  /// The condition for records deleted after `since`; a deletion changes only SystemModstamp.
  static func deletedCondition(since: Int64) -> String {
    "IsDeleted = true and SystemModstamp > \(SOQLLiteral.date(since))"
  }

  func condition(after key: Key) -> String {
    let id = SOQLLiteral.text(key.id)
    return "(\(modificationField) > \(key.modified) or "
      + "(\(modificationField) = \(key.modified) and \(idField) > \(id)))"
  }
}
