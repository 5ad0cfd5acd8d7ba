import Salesforce
import System

extension SyncQuery {
  /// Objects whose rows are never deleted, so they have no `IsDeleted`.
  private static let undeletable: Set<String> = [
    "user", "profile", "userrole", "organization", "recordtype",
  ]

  /// Whether rows of the object can be deleted.
  var knowsDeletion: Bool { !Self.undeletable.contains(objectName.lowercased()) }

  /// Whether `IsDeleted` is added to what the target selects.
  package var addsIsDeleted: Bool { !soql.selects("IsDeleted") }

  /// Whether only conditions limit the selected rows, without a scope or a similar clause.
  var isOfConditionsAlone: Bool {
    [.scope, .with, .for, .allRows].allSatisfy { soql[$0] == nil }
  }

  /// Returns the first query of a fetch: of all records, or of those modified after `since`, and if
  /// requested and possible also of the deleted ones, by `queryAll`.
  func first(since: Int64?, asksDeletions: Bool) -> AheadQuery {
    if asksDeletions, let since, let changes = changes(since: since) {
      return AheadQuery(changes, all: true)
    }
    return AheadQuery(fetch(since: since))
  }

  /// Returns one query, for `queryAll`, that finds both what changed and what was deleted after
  /// `since`; `IsDeleted` is the last field of each record.
  ///
  /// The target's own conditions apply only to records that are not deleted, as in
  /// `deleted(since:)`. Returns nil if `queryAll` would differ from `query`: a subquery would see
  /// deleted rows, and a scope or a similar clause means something else for them.
  package func changes(since: Int64, after key: Key? = nil) -> String? {
    guard knowsDeletion, idField == "Id", !hasOffset, !soql.hasSubqueries, isOfConditionsAlone
    else { return nil }
    var query = soql
    query.addCondition("\(modificationField) > \(SOQLLiteral.date(since))")
    query.addCondition("IsDeleted = false")
    let living = query[.where] ?? ""
    query[.where] = "(\(living)) or (\(Self.deletedCondition(since: since)))"
    if addsIsDeleted { query[.select] = (query[.select] ?? "") + ", IsDeleted" }
    if canResume {
      query[.orderBy] = order
      if let key { query.addCondition(condition(after: key)) }
    }
    return query.text
  }
}

extension SyncQuery {
  /// Whether the records can be requested by ranges of their IDs: the ranges together must return
  /// the same records with the same members.
  ///
  /// LIMIT and OFFSET count all records, a subquery has separate pages, and a long condition would be
  /// repeated in every range.
  package var isDivisible: Bool {
    canResume && idField == "Id" && isOfConditionsAlone && !soql.hasSubqueries(in: [.select])
      && soql.text.utf8.count <= Self.longestDivisible
  }

  private static let longestDivisible = 20_000
}

extension SOQLText {
  /// Whether the query contains a nested SELECT.
  fileprivate var hasSubqueries: Bool { hasSubqueries(in: Clause.allCases) }

  fileprivate func hasSubqueries(in clauses: [Clause]) -> Bool {
    clauses.contains { clause in
      SOQLTokens.words(in: self[clause] ?? "").contains { $0.lowercased() == "select" }
    }
  }
}

extension SOQLTokens {
  /// The words of a text at any depth, without quoted text.
  fileprivate static func words(in text: String) -> [String] {
    tokenize(text).flatMap { token -> [String] in
      if token.hasPrefix("'") { return [] }
      guard token.hasPrefix("(") else { return [token] }
      return words(in: String(token.dropFirst().dropLast()))
    }
  }
}
