import Reconciliation
import Snapshots
import System

/// The issued records of the generations that are kept.
///
/// They outlive the generations' stores.
struct IssuedRecords: Sendable {
  let data: DataDirectory

  /// Returns those of the given records that any known generation of a snapshot issued.
  ///
  /// The newest generation is searched first; the others only for records that it lacks.
  func find(_ snapshotID: String, _ asked: IssuedIDs) throws -> IssuedIDs {
    var found = IssuedIDs()
    for number in try data.issuedGenerations(of: snapshotID).reversed() {
      if found == asked { break }
      do {
        try add(IssuedRecordReader(path: data.issued(number, of: snapshotID)), asked, to: &found)
      } catch is SnapshotError {
        // Skip an unreadable generation; another one may have the record.
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
