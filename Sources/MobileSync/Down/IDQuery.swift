import JSON
import Salesforce
import System

/// Queries for records by the values of their ID field, in slices.
package struct IDQuery: Sendable {
  let sobjectType: String
  /// The field whose values are known.
  let idField: String
  /// The number of values in one query.
  package let slice: Int

  /// Creates queries of at most `slice` values each.
  package init(_ sobjectType: String, idField: String, slice: Int = RequestLimits.idsPerQuery) {
    self.sobjectType = sobjectType
    self.idField = idField
    self.slice = min(max(1, slice), RequestLimits.idsPerQuery)
  }

  /// Returns the query for fields of the records with these values, changed after `since`.
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

  /// Returns the fields, with the ID and the modification date added if missing.
  package static func fields(_ fields: [String], adding names: [String]) -> [String] {
    names.reduce(into: fields) { fields, name in
      guard !fields.contains(where: { $0.lowercased() == name.lowercased() }) else { return }
      fields.append(name)
    }
  }

  /// Sends the queries for all values, `slice` of them in each, and returns the responses in order.
  func window(
    _ session: Session, values: IDList, _ context: SyncContext,
    _ content: WideCalls.Content = .records,
    _ soql: @escaping @Sendable (_ values: [String]) -> String
  ) -> any AnswerSource<QueryAnswer> {
    session.answers(about: values, slice: slice, context.width(content), soql)
  }

  /// Returns which of the values the org still has.
  func existing(
    among values: IDList, _ context: SyncContext
  ) async throws(SyncError) -> RecordIDSet {
    var ids = RecordIDSet()
    guard values.count > 0 else { return ids }
    try await window(try await context.session(), values: values, context, .ids) { [self] values in
      soql([idField], values: values)
    }.readIDs(idField, into: &ids, context)
    return ids
  }
}

extension AnswerSource where Answer == QueryAnswer {
  /// Adds the IDs of all records in the responses.
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
  /// Returns which of these records the statements of `soql` return.
  func remoteIDs(
    among asked: IDList, _ context: SyncContext,
    _ soql: @escaping @Sendable (_ values: [String]) -> String
  ) async throws(SyncError) -> RemoteIDs {
    var ids = RecordIDSet()
    try await context.session().answers(
      about: asked, slice: RequestLimits.idsPerQuery, context.width(.ids), soql
    ).readIDs(idPath, into: &ids, context)
    return RemoteIDs(soupName: soupName, idPath: idPath, ids: ids, asked: asked.set)
  }

  /// Returns which of these records the statements of `soql` return, and when each last changed.
  func dates(
    of asked: IDList, _ context: SyncContext, _ soql: @escaping @Sendable ([String]) -> String
  ) async throws(SyncError) -> RemoteIDs {
    var (ids, dates) = (RecordIDSet(), RecordDates())
    let window = try await context.session().answers(
      about: asked, slice: RequestLimits.idsPerQuery, context.width(.ids), soql)
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
