import Crypto
import System

/// The SystemModstamps of a generation's records, for the syncs that requested them: the file
/// `systemModstamps` next to `generation.json`.
///
/// A briefcase does not show what has changed, so the next prime compares its list with these. The
/// first line is the SHA-256 of all others. A soup is a line with its name, and each of its records
/// a line with milliseconds since 1970 and the ID.
package enum SystemModstamps {
  /// The name of the file in the generation's directory.
  package static let fileName = "systemModstamps"

  /// Writes the stamps, in milliseconds since 1970 by soup (`PrimeInput.key`) and ID, into the
  /// directory of a generation.
  ///
  /// If there are none, no file is created.
  package static func write(
    _ stamps: [String: [String: Int64]], in directory: String
  ) throws(SnapshotError) {
    var bytes: [UInt8] = []
    for (soup, ofSoup) in stamps.sorted(by: { $0.key < $1.key }) where !ofSoup.isEmpty {
      bytes.append(contentsOf: "soup \(soup)\n".utf8)
      for (id, stamp) in ofSoup.sorted(by: { $0.key < $1.key }) {
        bytes.append(contentsOf: "\(stamp) \(id)\n".utf8)
      }
    }
    if bytes.isEmpty { return }
    let head = Array("\(Digest.sha256Hex(bytes))\n".utf8)
    try SnapshotError.mapping {
      try DurableFile.write(head + bytes, to: directory + "/" + fileName)
    }
  }

  /// Reads the stamps of a generation; a generation without the file has none.
  package static func read(in directory: String) throws(SnapshotError) -> [String: [String: Int64]]
  {
    let path = directory + "/" + fileName
    let kept = try SnapshotError.mapping { Files.exists(path) ? try Files.read(path) : nil }
    guard let bytes = kept else { return [:] }
    let damage = SnapshotError.damaged(
      path: directory, file: fileName, reason: "has been modified")
    guard let end = bytes.firstIndex(of: 0x0A),
      Array(Digest.sha256Hex(Array(bytes[(end + 1)...])).utf8) == Array(bytes[..<end])
    else { throw damage }
    var stamps: [String: [String: Int64]] = [:]
    var soup = ""
    for line in bytes[(end + 1)...].split(separator: 0x0A) {
      guard let space = line.firstIndex(of: 0x20) else { throw damage }
      let head = String(decoding: line[..<space], as: UTF8.self)
      let rest = String(decoding: line[(space + 1)...], as: UTF8.self)
      if head == "soup" {
        soup = rest
      } else {
        guard let stamp = Int64(head) else { throw damage }
        stamps[soup, default: [:]][rest] = stamp
      }
    }
    return stamps
  }
}
