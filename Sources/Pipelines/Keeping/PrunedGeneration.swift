import JSON
import Snapshots
import System

/// The note `pruned.json` of a generation whose stores and bundles are gone, with the facts that
/// are needed later.
package struct PrunedGeneration: Sendable, Hashable {
  /// The file's name in the generation's directory.
  package static let fileName = "pruned.json"

  /// When its stores were removed; no device could get them afterwards.
  package var pruned: Int64
  /// The expiry of its last bundle; nil if it never had one.
  package var goodUntil: Int64?
  /// The expiry of the bundles that contain each generation of the global stores.
  package var globals: [Int: Int64]
  /// The edits that its stores redelivered, by their numbers in the ledger.
  package var carried: Set<Int64>

  package init(pruned: Int64, goodUntil: Int64?, globals: [Int: Int64], carried: Set<Int64>) {
    (self.pruned, self.goodUntil) = (pruned, goodUntil)
    (self.globals, self.carried) = (globals, carried)
  }

  /// Reads the note of a generation's directory; nil if there is none.
  package init?(directory: String) throws(SnapshotError) {
    let file = directory + "/" + Self.fileName
    guard Files.exists(file) else { return nil }
    let bytes = try SnapshotError.mapping { try Files.read(file, limit: 1 << 24) }
    guard let json = try? JSONValue(parsing: bytes), json["format"]?.int == 1,
      let pruned = Self.time(json["pruned"])
    else {
      throw .damaged(path: directory, file: Self.fileName, reason: "cannot be read")
    }
    self.pruned = pruned
    goodUntil = Self.time(json["goodUntil"])
    globals = [:]
    for (name, value) in json["globals"]?.object ?? [:] {
      if let number = Int(name) { globals[number] = Self.time(value) }
    }
    carried = Set(json["carried"]?.array?.compactMap(\.int) ?? [])
  }

  private static func time(_ value: JSONValue?) -> Int64? {
    value?.string.flatMap { Dates.milliseconds(iso8601: $0) }
  }

  /// Writes the note durably.
  func write(into directory: String) throws(SystemError) {
    try DurableFile.write(bytes, to: directory + "/" + Self.fileName)
  }

  /// The content of the file.
  var bytes: [UInt8] {
    var json: JSONObject = ["format": 1, "pruned": .string(Dates.utc(pruned))]
    json["goodUntil"] = goodUntil.map { .string(Dates.utc($0)) }
    if !globals.isEmpty {
      var object: JSONObject = [:]
      for (number, until) in globals.sorted(by: { $0.key < $1.key }) {
        object[String(number)] = .string(Dates.utc(until))
      }
      json["globals"] = .object(object)
    }
    if !carried.isEmpty { json["carried"] = .array(carried.sorted().map { JSONValue($0) }) }
    return JSONValue.object(json).fileBytes
  }
}
