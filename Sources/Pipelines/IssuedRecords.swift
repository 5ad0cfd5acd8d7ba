import Bundles
import Ledger
import MobileSync
import Reconciliation
import System

/// What was issued, by the bases that are kept: they outlive the generations' stores.
struct IssuedRecords: Sendable {
  let data: DataDirectory

  /// Which of the records that are asked for any known generation of a snapshot held.
  ///
  /// The newest base is read first, and the others only for what is not in it.
  func find(_ snapshotID: String, _ asked: IssuedIDs) throws -> IssuedIDs {
    var found = IssuedIDs()
    for path in try bases(of: snapshotID) {
      do {
        try add(IssuedRecordReader(path: path), asked, to: &found)
      } catch is BundleError {
        // What cannot be read proves nothing; another generation may.
        continue
      }
      if found == asked { break }
    }
    return found
  }

  private func bases(of snapshotID: String) throws -> [String] {
    let directory = data.bases + "/" + snapshotID
    guard Files.isDirectory(directory) else { return [] }
    let numbers = try Files.list(directory).compactMap { name in
      name.hasSuffix(".base") ? Int(name.dropLast(".base".count)) : nil
    }
    return numbers.sorted(by: >).map { data.base($0, of: snapshotID) }
  }

  private func add(
    _ base: IssuedRecordReader, _ asked: IssuedIDs, to found: inout IssuedIDs
  ) throws {
    let soups = Dictionary(
      asked.inSoup.keys.map { (PrimeInput.key($0.store.storeName, $0.soup), $0) },
      uniquingKeysWith: { first, _ in first })
    try base.forEach { record in
      if asked.anywhere.contains(record.id) { found.anywhere.insert(record.id) }
      if let soup = soups[record.soup], asked.inSoup[soup]?.contains(record.id) == true {
        found.inSoup[soup, default: []].insert(record.id)
      }
    }
  }
}
