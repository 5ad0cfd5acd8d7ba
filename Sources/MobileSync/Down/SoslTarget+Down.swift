import JSON
import Salesforce

extension SoslTarget: OneSoupTarget {
  /// What the search finds; nothing is added to it, and it is whole each time.
  nonisolated(nonsending) package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let found = try await find(context)
    if found.count >= Session.searchLimit {
      context.warn("the search found as many records as the org gives; more may match")
    }
    let part = SyncPage.Part(
      destination(context.soupName), bytes: found.answer, container: .member(Self.records))
    return SingleAnswer(
      [part], totalSize: found.count, remoteIDs: [remoteIDs(found, context)])
  }

  /// None: each search brings all that it finds.
  nonisolated(nonsending) package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { SingleAnswer([], totalSize: 0) }

  /// What the search finds now; nothing can be told from a search that met its limit.
  nonisolated(nonsending) package func remoteIDs(
    _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let remote = remoteIDs(try await find(context), context)
    if remote.ids == nil {
      context.warn(
        Self.cutWarning)
    }
    return [remote]
  }

  // MARK: the search

  /// What a person is told where the records that the org still has cannot be told.
  static let cutWarning =
    "the search found as many records as it may, so records that are missing in it cannot be "
    + "told from deleted ones; none was removed"

  /// The search with its variables filled in; what stands in braces is text.
  package func search(variables: [String: String]) throws(SyncError) -> String {
    let bytes = Array(query.utf8)
    let end = SOSLFields.textEnd(bytes)
    let rest = String(decoding: bytes[end...], as: UTF8.self)
    return try String(decoding: bytes[..<end], as: UTF8.self)
      + SOQLVariables.substitute(variables, in: rest)
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
      ids: found.count < Self.limit(of: query) ? found.ids : nil)
  }

  nonisolated(nonsending) private func find(
    _ context: SyncContext
  ) async throws(SyncError) -> Found {
    let search = try search(variables: context.variables)
    let session = try await context.session()
    try context.checkStop()
    let answer = try await SyncError.inOrg { () async throws(OrgError) in
      try await session.search(search)
    }
    let scanner = RecordScanner(paths: [idFieldName])
    var ids = RecordIDSet()
    var count = 0
    var withoutID = 0
    do {
      try answer.withUnsafeBytes { bytes in
        count = try scanner.scan(bytes, in: .member(Self.records)) { _, _, fields in
          guard fields[0].kind == .string else {
            withoutID += 1
            return
          }
          ids.insert(UnsafeRawBufferPointer(rebasing: bytes[fields[0].range]))
        }.records
      }
    } catch {
      throw SyncError(.badResponse, "what the search found cannot be read: \(error)")
    }
    guard withoutID == 0 else {
      throw SyncError(
        .definition, "\(withoutID) records that the search found have no \(idFieldName)",
        fix: "name \(idFieldName) in the RETURNING clause, as in RETURNING Account(Id, Name)")
    }
    return Found(answer: answer, count: count, ids: ids)
  }

  /// How many records cut a search: the org's own bound, or the least LIMIT in it.
  ///
  /// What an OFFSET skips cannot be told at all.
  static func limit(of query: String) -> Int {
    var limit = Session.searchLimit
    let words = words(of: query)
    for (index, word) in words.enumerated() {
      switch word.uppercased() {
      case "OFFSET": return 0
      case "LIMIT": limit = min(limit, words[safe: index + 1].flatMap { Int($0) } ?? limit)
      default: continue
      }
    }
    return limit
  }

  /// The words outside of quotes and of the braces that hold what is searched for.
  private static func words(of query: String) -> [String] {
    let bytes = Array(query.utf8)
    var words: [String] = []
    var word: [UInt8] = []
    var index = SOSLFields.textEnd(bytes)
    func isPart(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
      default: false
      }
    }
    while index < bytes.count {
      if isPart(bytes[index]) {
        word.append(bytes[index])
        index += 1
        continue
      }
      if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
      word = []
      index =
        bytes[index] == UInt8(ascii: "'")
        ? min(SOQLTokens.endOfQuoted(bytes, from: index), bytes.count) : index + 1
    }
    return word.isEmpty ? words : words + [String(decoding: word, as: UTF8.self)]
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
