import Salesforce
import System

extension SyncQuery {
  /// Objects whose rows are never deleted, so that they have no `IsDeleted` to ask for.
  private static let undeletable: Set<String> = [
    "user", "profile", "userrole", "organization", "recordtype",
  ]

  /// False where nothing of the object is ever deleted.
  var knowsDeletion: Bool { !Self.undeletable.contains(objectName.lowercased()) }

  /// Whether `IsDeleted` is asked for beyond what the target selects.
  package var addsIsDeleted: Bool { !soql.selects("IsDeleted") }

  /// True when conditions alone say which rows are selected: no scope, and no other such clause.
  var isOfConditionsAlone: Bool {
    [.scope, .with, .for, .allRows].allSatisfy { soql[$0] == nil }
  }

  /// The query for what changed and what was deleted after `since`, in one: to be sent to
  /// `queryAll`, with `IsDeleted` as the last field of each record.
  ///
  /// The target's own conditions are for living records alone, as in `deleted(since:)`. Nil where
  /// `queryAll` would answer something else than `query` does: a subquery would see deleted rows,
  /// and a scope or another such clause is not the same for them.
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

extension SOQLText {
  /// True when a SELECT stands inside the query.
  fileprivate var hasSubqueries: Bool {
    Clause.allCases.contains { clause in
      SOQLTokens.words(in: self[clause] ?? "").contains { $0.lowercased() == "select" }
    }
  }
}

extension SOQLTokens {
  /// The words of a text at any depth, without what is quoted.
  fileprivate static func words(in text: String) -> [String] {
    tokenize(text).flatMap { token -> [String] in
      if token.hasPrefix("'") { return [] }
      guard token.hasPrefix("(") else { return [token] }
      return words(in: String(token.dropFirst().dropLast()))
    }
  }
}
