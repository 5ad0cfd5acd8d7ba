import JSON
import System

/// All requests that an org processed, in order; with a path, also in a file of JSON lines.
package final class RequestLog: Sendable {
  /// One request with its response.
  package struct Entry: Sendable, Hashable {
    /// Its number, starting at 1.
    package let sequence: Int
    package let kind: RequestKind
    package let method: String
    /// The decoded path without its query.
    package let path: String
    /// The SOQL of a query, or the SOSL of a search.
    package let soql: String?
    /// The user name of its token, if the token was valid.
    package let user: String?
    /// The connected app of its token.
    package let app: String?
    /// The status of the response, even if it was lost.
    package let status: Int
    /// Whether it was to change records.
    package let isWrite: Bool
    /// The number of calls that an org counts: 0 for logins, the parts of a batch, otherwise 1.
    package let calls: Int
    /// The number of records read or written.
    package let records: Int?
    /// How many of these were answered with no field other than `Id` and `SystemModstamp`.
    package let ids: Int?
    /// The size of the response's body; 0 if it is generated while it is sent.
    package let bytes: Int
    /// The injected faults.
    package let fault: String?
    /// The processing time.
    package let milliseconds: Double
  }

  private let state = Locked<[Entry]>([])
  private let path: String?

  /// Creates a log; with a path, it is also appended to a file.
  package init(path: String? = nil) { self.path = path }

  package var entries: [Entry] { state.withLock { $0 } }

  /// The entries after the first `count`, which are those since `count` was read.
  package func entries(after count: Int) -> [Entry] {
    state.withLock { Array($0.dropFirst(count)) }
  }

  package var count: Int { state.withLock { $0.count } }

  /// The entries that were to change records.
  package var writes: [Entry] { entries.filter(\.isWrite) }

  /// What some requests cost together.
  package struct Totals: Sendable, Hashable {
    package var requests = 0
    /// The calls that an org counts.
    package var calls = 0
    /// The records read or written, with more fields than `Id` and `SystemModstamp`.
    package var records = 0
    /// The records of which only these two fields were answered.
    package var ids = 0
    /// The size of the responses' bodies, before compression.
    package var bytes = 0
  }

  /// Returns the totals of the requests after the first `count`.
  package func totals(after count: Int = 0) -> Totals {
    entries(after: count).reduce(into: Totals()) { totals, entry in
      totals.requests += 1
      totals.calls += entry.calls
      totals.records += (entry.records ?? 0) - (entry.ids ?? 0)
      totals.ids += entry.ids ?? 0
      totals.bytes += entry.bytes
    }
  }

  /// The number of requests of each kind.
  package var counts: [RequestKind: Int] {
    entries.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  /// Clears the entries in memory, not the file.
  package func clear() { state.withLock { $0 = [] } }

  /// Appends the entry that `make` returns for its number.
  package func append(_ make: (Int) -> Entry) {
    state.withLock { entries in
      let entry = make(entries.count + 1)
      entries.append(entry)
      // If the log cannot be written, the request must not fail.
      if let path { try? Files.appendLine(entry.json.text, to: path) }
    }
  }
}

extension RequestLog.Entry {
  /// The entry as a line of the file.
  package var json: JSONValue {
    var object: JSONObject = [
      "sequence": JSONValue(sequence), "kind": .string(kind.rawValue), "method": .string(method),
      "path": .string(path), "status": JSONValue(status), "write": .bool(isWrite),
    ]
    if let user { object["user"] = .string(user) }
    if let app { object["app"] = .string(app) }
    if let soql { object["soql"] = .string(soql) }
    object["calls"] = JSONValue(calls)
    if let records { object["records"] = JSONValue(records) }
    if let ids { object["ids"] = JSONValue(ids) }
    object["bytes"] = JSONValue(bytes)
    if let fault { object["fault"] = .string(fault) }
    object["ms"] = JSONValue((milliseconds * 100).rounded() / 100)
    return .object(object)
  }
}
