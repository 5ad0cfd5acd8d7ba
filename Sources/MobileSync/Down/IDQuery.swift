import JSON
import Salesforce
import System

/// Queries for records by the values of their id field, a slice of the values at a time.
package struct IDQuery: Sendable {
  let sobjectType: String
  /// The field whose values are known.
  let idField: String
  /// The values in one query.
  package let slice: Int

  /// Queries of at most `slice` values.
  package init(_ sobjectType: String, idField: String, slice: Int = RequestLimits.idsPerQuery) {
    self.sobjectType = sobjectType
    self.idField = idField
    self.slice = min(max(1, slice), RequestLimits.idsPerQuery)
  }

  /// The query for some fields of the records with these values, changed after `since`.
  package func soql(
    _ fields: [String], values: [String], modifiedAfter since: Int64? = nil,
    _ dateField: String = ""
  ) -> String {
    let soql =
      "select \(fields.joined(separator: ", ")) from \(sobjectType) "
      + "where \(idField) IN (\(SOQLLiteral.list(values)))"
    guard let since else { return soql }
    return soql + " AND \(dateField) > \(SOQLLiteral.date(since))"
  }

  /// The fields and, where they are missing, the id and the modification date.
  package static func fields(_ fields: [String], adding names: [String]) -> [String] {
    names.reduce(into: fields) { fields, name in
      guard !fields.contains(where: { $0.lowercased() == name.lowercased() }) else { return }
      fields.append(name)
    }
  }

  /// Sends the queries for all values, `slice` of them in each, and hands out the answers in order.
  func window(
    _ session: Session, values: IDList,
    _ soql: @escaping @Sendable (_ values: [String]) -> String
  ) -> AnswerWindow<QueryAnswer> {
    session.answers(about: values, slice: slice, soql)
  }

  /// Which of the values the org still has.
  func existing(
    among values: IDList, _ context: SyncContext
  ) async throws(SyncError) -> RecordIDSet {
    var ids = RecordIDSet()
    guard values.count > 0 else { return ids }
    try await window(try await context.session(), values: values) { [self] values in
      soql([idField], values: values)
    }.readIDs(idField, into: &ids, context)
    return ids
  }
}

extension AnswerWindow<QueryAnswer> {
  /// Adds the ids of all records of the answers.
  func readIDs(
    _ idField: String, into ids: inout RecordIDSet, _ context: SyncContext
  ) async throws(SyncError) {
    while hasMore {
      try context.checkStop()
      try await take().read(paths: [idField]) { bytes, fields in
        PageID.reading(fields[0], in: bytes) { ids.insert($0) }
      }
    }
  }
}

extension SyncDestination {
  /// Which of these records the org gives by statements of `soql`.
  func remoteIDs(
    among asked: IDList, _ context: SyncContext,
    _ soql: @escaping @Sendable (_ values: [String]) -> String
  ) async throws(SyncError) -> RemoteIDs {
    var ids = RecordIDSet()
    try await context.session().answers(
      about: asked, slice: RequestLimits.idsPerQuery, soql
    ).readIDs(idPath, into: &ids, context)
    return RemoteIDs(soupName: soupName, idPath: idPath, ids: ids, asked: asked.set)
  }

  /// Which of these records the org gives by statements of `soql`, and when each last changed.
  func dates(
    of asked: IDList, _ context: SyncContext, _ soql: @escaping @Sendable ([String]) -> String
  ) async throws(SyncError) -> RemoteIDs {
    var (ids, dates) = (RecordIDSet(), RecordDates())
    let window = try await context.session().answers(
      about: asked, slice: RequestLimits.idsPerQuery, soql)
    while window.hasMore {
      try context.checkStop()
      let answer = try await window.take()
      try answer.read()
      for page in answer.pages {
        try ids.insert(page, idPath)
        try dates.insert(page, idPath, modificationPath)
      }
    }
    return RemoteIDs(
      soupName: soupName, idPath: idPath, ids: ids, dates: (modificationPath, dates),
      asked: asked.set)
  }
}
