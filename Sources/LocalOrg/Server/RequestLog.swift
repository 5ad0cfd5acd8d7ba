import JSON
import System

/// Every request that an org answered, in order; also a file of JSON lines when it has a path.
package final class RequestLog: Sendable {
  /// One request.
  package struct Entry: Sendable, Hashable {
    /// Its place, from 1.
    package let sequence: Int
    /// What it asked for.
    package let kind: RequestKind
    /// The method.
    package let method: String
    /// The decoded path without its query.
    package let path: String
    /// The SOQL of a query, or the SOSL of a search.
    package let soql: String?
    /// The user name of its token, when that was valid.
    package let user: String?
    /// The connected app of its token.
    package let app: String?
    /// The status that was answered, or that was to be answered and got lost.
    package let status: Int
    /// Whether it was meant to change records.
    package let isWrite: Bool
    /// How many records it read or wrote.
    package let records: Int?
    /// The bytes of the answer's body; 0 where it is made while it is sent.
    package let bytes: Int
    /// What was injected.
    package let fault: String?
    /// How long the org worked on it.
    package let milliseconds: Double
  }

  private let state = Locked<[Entry]>([])
  private let path: String?

  /// A log that is also appended to a file.
  package init(path: String? = nil) { self.path = path }

  /// All entries so far.
  package var entries: [Entry] { state.withLock { $0 } }

  /// The entries after the first `count`: what happened since `count` was read.
  package func entries(after count: Int) -> [Entry] {
    state.withLock { Array($0.dropFirst(count)) }
  }

  /// How many requests there were.
  package var count: Int { state.withLock { $0.count } }

  /// The entries that were to change records.
  package var writes: [Entry] { entries.filter(\.isWrite) }

  /// How many requests there were of each kind.
  package var counts: [RequestKind: Int] {
    entries.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  /// Forgets what is in memory; the file keeps it.
  package func clear() { state.withLock { $0 = [] } }

  /// Appends the entry that `make` returns for its place.
  package func append(_ make: (Int) -> Entry) {
    state.withLock { entries in
      let entry = make(entries.count + 1)
      entries.append(entry)
      // A log that cannot be written must not fail the request that it tells of.
      if let path { try? Files.appendLine(entry.json.text, to: path) }
    }
  }
}

extension RequestLog.Entry {
  /// The entry as its line in the file.
  package var json: JSONValue {
    var object: JSONObject = [
      "sequence": JSONValue(sequence), "kind": .string(kind.rawValue), "method": .string(method),
      "path": .string(path), "status": JSONValue(status), "write": .bool(isWrite),
    ]
    if let user { object["user"] = .string(user) }
    if let app { object["app"] = .string(app) }
    if let soql { object["soql"] = .string(soql) }
    if let records { object["records"] = JSONValue(records) }
    object["bytes"] = JSONValue(bytes)
    if let fault { object["fault"] = .string(fault) }
    object["ms"] = JSONValue((milliseconds * 100).rounded() / 100)
    return .object(object)
  }
}
