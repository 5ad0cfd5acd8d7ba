import Salesforce
import System

/// The queries of a `soql` target: what a device stores, and what is asked of the org.
package struct SyncQuery: Sendable, Hashable {
  /// A place in the order of modification date and id.
  package struct Key: Sendable, Hashable {
    /// The modification date as SOQL writes it.
    var modified: String
    var id: String

    package init(modified: String, id: String) {
      self.modified = modified
      self.id = id
    }
  }

  /// The query as it stands in `syncs_soup`: one that both SDKs parse and continue rightly.
  package let stored: String
  let idField: String
  let modificationField: String
  let soql: SOQLText

  /// Reads a target's query and adds to it what a sync needs.
  ///
  /// As the SDK does, the modification date and the id are put into the select list and an order is
  /// added where they are missing, and a query that lacks nothing keeps its text. Beyond the SDK,
  /// line ends become spaces, `id` becomes `Id`, a WHERE with an OR is parenthesised, because the
  /// device will put a condition before it, and a WITH gets a WHERE before it.
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
        .definition, "the query groups its rows, which have no id to keep them under",
        fix: "sync the rows themselves, without GROUP BY")
    }
    let original = soql
    for field in [modificationField, idField] {
      if soql.selects(field) { soql.spellField(field) } else { soql.addField(field) }
    }
    soql.closeConditions()
    // The SDK's parsers leave WITH in the clause before, and put a WHERE after that.
    if soql[.with] != nil, soql[.where] == nil { soql[.where] = "\(idField) != null" }
    if soql[.orderBy] == nil { soql[.orderBy] = modificationField }
    stored = soql == original ? plain : soql.text
    self.soql = soql
  }

  /// True when the device may move its cursor after every page.
  var isSortedByModification: Bool { soql.isOrdered(by: modificationField) }

  /// True when LIMIT or OFFSET cut the result.
  var isBounded: Bool { soql.isBounded }
  var limit: Int? { soql.limit }
  var hasOffset: Bool { soql[.offset] != nil }
  var objectName: String { soql.objectName }

  /// True when the chain of pages can be taken up again after a record.
  package var canResume: Bool { !isBounded }

  /// By modification date and id, so that equal dates have one order.
  var order: String {
    modificationField == idField ? idField : "\(modificationField), \(idField)"
  }

  /// The query to fetch records with: all, what changed after `since`, or what comes after `key`.
  ///
  /// Without LIMIT the records come in `order`, so that a lost query locator costs no more than its last page.
  ///
  /// `limit` asks for no more than so many, of a query that has no limit of its own, and `idsOnly` for
  /// their ids alone.
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

  /// What a query for records with certain ids asks for.
  package enum Content {
    case records, ids, dates
  }

  /// The query for those of the records with these ids that match; a LIMIT or OFFSET, which counts all that match,
  /// says nothing of them.
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

  /// The query for the ids of all that matches now, with the date of their last change.
  var listing: String { list(of: datedID) }

  private var datedID: String {
    modificationField == idField ? idField : "\(idField), \(modificationField)"
  }

  private func list(of fields: String) -> String {
    var query = soql
    query[.select] = fields
    query[.orderBy] = nil
    return query.text
  }

  package static func count(of text: String) throws(SyncError) -> String {
    var query = try SyncError.inQuery { try SOQLText(text) }
    query[.select] = "COUNT()"
    query[.orderBy] = nil
    return query.text
  }

  /// The query for the ids of what was deleted after `since`; to be sent to `queryAll`.
  ///
  /// The target's own conditions are left out: a deleted record may have stopped to meet them
  /// first, and an id that no store holds costs nothing.
  package func deleted(since: Int64) -> String {
    "select \(idField) from \(objectName) where \(Self.deletedCondition(since: since))"
  }

  /// What was deleted after `since`: deleting moves SystemModstamp, and no other date.
  static func deletedCondition(since: Int64) -> String {
    "IsDeleted = true and SystemModstamp > \(SOQLLiteral.date(since))"
  }

  func condition(after key: Key) -> String {
    let id = SOQLLiteral.text(key.id)
    return "(\(modificationField) > \(key.modified) or "
      + "(\(modificationField) = \(key.modified) and \(idField) > \(id)))"
  }
}
