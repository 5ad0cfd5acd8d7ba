import JSON
import Ledger
import Returns
import System

/// The refused returns in quarantine, each with its reason.
package enum Quarantine {
  /// The suffix of the note that records who discarded a return.
  static let discardedEnding = ".discarded.json"

  /// One refused return.
  package struct Item: Sendable, Hashable {
    /// The digest of its content, which names its directory.
    package var sha256: String
    /// The content of its reason file, and its path.
    package var detail: JSONObject
  }

  /// Returns the content of a quarantine, ordered by digest.
  ///
  /// A return no longer counts if an operator removed its directory, or only its `ReasonFile` to
  /// keep the file without the finding.
  package static func list(_ directory: String) throws(SystemError) -> [Item] {
    guard Files.isDirectory(directory) else { return [] }
    return try ReasonFile.digests(in: directory).compactMap { sha256 in
      let place = directory + "/" + sha256
      guard Files.exists(place) else { return nil }
      var detail = ReasonFile(of: sha256, in: directory).told
      detail["path"] = .string(place)
      return Item(sha256: sha256, detail: detail)
    }
  }

  /// Compares a quarantine with the findings that need review: the findings whose return is gone, and
  /// the returns that no finding is about.
  static func changes(
    _ directory: String, since open: [Finding]
  ) throws(SystemError) -> (gone: [Finding], untold: [Item]) {
    let lying = try list(directory)
    let names = Set(lying.map(\.sha256))
    let known = open.filter { $0.kind == .returnQuarantined }
    let told = Set(known.map(\.subject))
    return (
      known.filter { !names.contains($0.subject) }, lying.filter { !told.contains($0.sha256) }
    )
  }
}
