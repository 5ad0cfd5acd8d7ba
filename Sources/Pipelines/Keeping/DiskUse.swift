import JSON
import System

/// The disk use of a pipeline's directory, by kind of file.
package struct DiskUse: Sendable {
  /// The files of one kind, of one snapshot or of the whole pipeline.
  package struct Part: Sendable, Hashable {
    /// The kind: `stores and bundles`, `issued`, a directory's name, or `ledger`.
    package var kind: String
    /// The snapshot; nil for the pipeline itself.
    package var snapshot: String?
    /// The total size in bytes.
    package var bytes: Int64
    /// The number of generations, returns or reports.
    package var count: Int
  }

  /// The parts, those of snapshots first.
  package var parts: [Part] = []
  /// The total size in bytes.
  package var bytes: Int64 { parts.reduce(0) { $0 + $1.bytes } }

  /// Reads a pipeline's directory.
  ///
  /// If a run is active, files that it removes meanwhile are not counted.
  package static func read(_ data: DataDirectory) throws -> DiskUse {
    var use = DiskUse()
    for id in try data.snapshots() {
      let numbers = try data.generations(of: id)
      use.add("stores and bundles", id, bytes(of: data.snapshot(id)), numbers.count)
    }
    if Files.isDirectory(data.issued) {
      for id in try Files.list(data.issued) where !id.hasPrefix(".") {
        let count = try data.issuedGenerations(of: id).count
        use.add("issued", id, bytes(of: data.issued + "/" + id), count)
      }
    }
    for (kind, directory) in [
      ("processing", data.processing), ("done", data.done), ("quarantine", data.quarantine),
      ("reports", data.reports),
    ] where Files.isDirectory(directory) {
      let count = try Files.list(directory).count { Files.isDirectory(directory + "/" + $0) }
      use.add(kind, nil, bytes(of: directory), count)
    }
    let known = ["users", "global", "issued", "processing", "done", "quarantine", "reports"]
    var (ledger, rest) = (Int64(0), Int64(0))
    for name in Files.isDirectory(data.path) ? try Files.list(data.path) : []
    where !known.contains(name) {
      let size = bytes(of: data.path + "/" + name)
      if name.hasPrefix("state.sqlite") { ledger += size } else { rest += size }
    }
    use.add("ledger", nil, ledger, 1)
    use.add("other files", nil, rest, 1)
    return use
  }

  private mutating func add(_ kind: String, _ snapshot: String?, _ bytes: Int64, _ count: Int) {
    if bytes > 0 {
      parts.append(Part(kind: kind, snapshot: snapshot, bytes: bytes, count: count))
    }
  }

  /// Returns the size of a file, or of all files below a directory; 0 if it does not exist.
  static func bytes(of path: String) -> Int64 {
    guard let status = try? Files.status(path) else { return 0 }
    guard status.kind == .directory else { return status.kind == .regular ? status.size : 0 }
    guard let names = try? Files.list(path) else { return 0 }
    var sum: Int64 = 0
    for name in names { sum += bytes(of: path + "/" + name) }
    return sum
  }

  package var json: JSONValue {
    [
      "bytes": JSONValue(bytes),
      "parts": .array(
        parts.map { part in
          var object: JSONObject = ["kind": .string(part.kind)]
          object["snapshot"] = part.snapshot.map(JSONValue.string)
          object["bytes"] = JSONValue(part.bytes)
          object["count"] = JSONValue(part.count)
          return .object(object)
        }),
    ]
  }
}
