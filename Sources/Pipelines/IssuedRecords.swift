import Reconciliation
import Snapshots
import System

/// What was issued, by the files that are kept: they outlive the generations' stores.
struct IssuedRecords: Sendable {
  let data: DataDirectory

  /// Which of the records that are asked for any known generation of a snapshot held.
  ///
  /// The newest generation is asked first, and the others only for what is not in it.
  func find(_ snapshotID: String, _ asked: IssuedIDs) throws -> IssuedIDs {
    var found = IssuedIDs()
    for number in try data.issuedGenerations(of: snapshotID).reversed() {
      if found == asked { break }
      do {
        try add(IssuedRecordReader(path: data.issued(number, of: snapshotID)), asked, to: &found)
      } catch is SnapshotError {
        // What cannot be read proves nothing; another generation may.
        continue
      }
    }
    return found
  }

  private func add(
    _ issued: IssuedRecordReader, _ asked: IssuedIDs, to found: inout IssuedIDs
  ) throws {
    for id in asked.anywhere.subtracting(found.anywhere)
    where try !issued.records(id: id).isEmpty {
      found.anywhere.insert(id)
    }
    for (soup, ids) in asked.inSoup {
      let rest = ids.subtracting(found.inSoup[soup] ?? [])
      let key = PrimeInput.key(soup.store.storeName, soup.soup)
      let records = try issued.lookup(soup: key, ids: rest)
      if !records.isEmpty { found.inSoup[soup, default: []].formUnion(records.keys) }
    }
  }
}
