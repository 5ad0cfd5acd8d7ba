import JSON
import Salesforce
import System

extension SoslTarget: WholeTarget {
  /// Runs the search unchanged and in full each time.
  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let found = try await find(context)
    if found.count >= RequestLimits.search {
      context.warn("the search reached the org's limit; more records may match")
    }
    let part = SyncPage.Part(
      destination(context.soupName), bytes: found.answer, container: .member(Self.records))
    return SingleAnswer(
      [part], totalSize: found.count, isCut: isCut(found),
      remoteIDs: [remoteIDs(found, context)])
  }

  /// The records that the search finds now; unknown if it reached its limit.
  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    [remoteIDs(try await find(context), context)]
  }

  // MARK: Search

  /// Returns the search with its variables replaced; text in braces is left unchanged.
  package func search(variables: [String: String]) throws(SyncError) -> String {
    let bytes = Array(query.utf8)
    let end = SOSLFields.textEnd(bytes)
    let rest = String(decoding: bytes[end...], as: UTF8.self)
    return String(decoding: bytes[..<end], as: UTF8.self)
      + (try SyncError.inQuery { try SOQLVariables.substitute(variables, in: rest) })
  }

  private static let records = "searchRecords"

  private struct Found {
    let answer: [UInt8]
    let count: Int
    let ids: RecordIDSet
  }

  private func remoteIDs(_ found: Found, _ context: SyncContext) -> RemoteIDs {
    RemoteIDs(
      soupName: context.soupName, idPath: idFieldName,
      ids: isCut(found) ? nil : found.ids)
  }

  private func isCut(_ found: Found) -> Bool { found.count >= Self.limit(of: query) }

  private func find(_ context: SyncContext) async throws(SyncError) -> Found {
    let search = try search(variables: context.variables)
    let session = try await context.session()
    try context.checkStop()
    let answer = try await SyncError.inOrg { try await session.search(search) }
    var ids = RecordIDSet()
    let found = try ids.insert(answer, idFieldName, in: .member(Self.records))
    guard found.withoutID == 0 else {
      throw SyncError(
        .definition,
        "the search found \(CountText.of(found.withoutID, "record")) without \(idFieldName)",
        fix: "add \(idFieldName) to the RETURNING clause, as in RETURNING Account(Id, Name)")
    }
    return Found(answer: answer, count: found.records, ids: ids)
  }

  /// The number of records at which a search is cut: the org's limit, or the smallest LIMIT in the
  /// search.
  ///
  /// The records that an OFFSET skips cannot be determined.
  package static func limit(of query: String) -> Int {
    var limit = RequestLimits.search
    let words = SOSLFields.words(in: query)
    for (index, word) in words.enumerated() {
      switch word.uppercased() {
      case "OFFSET": return 0
      case "LIMIT": limit = min(limit, words[safe: index + 1].flatMap { Int($0) } ?? limit)
      default: continue
      }
    }
    return limit
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
