import JSON
import MobileSync
import Returns
import SmartStore
import Snapshots
import System

extension ReturnIntake {
  /// The number of elements looked up in a soup.
  ///
  /// The first ones were issued; a device appends its own.
  private static let sample = 8

  /// Refuses a store that holds a record as it was issued to another user, and not to the user of
  /// its stamp.
  ///
  /// If an app mixed up the stamps of two users' stores, the edits of one user would be sent as the
  /// other.
  func checkOwner(
    of store: Store, _ validated: ValidatedStore, _ soups: [SoupReading], _ name: String
  ) throws {
    let stamp = validated.stamp
    let path = data.issued(stamp.generation, of: stamp.user)
    guard validated.scope == .user, Files.exists(path) else { return }
    do {
      let issued = try IssuedRecordReader(path: path)
      for soup in soups where try store.hasSoup(soup.soup) {
        let key = PrimeInput.key(validated.storeName, soup.soup)
        let held = try dates(soup, in: store)
        let known = try issued.lookup(soup: key, ids: held.keys)
        let foreign = held.filter { known[$0.key] == nil }
        guard !foreign.isEmpty, let (owner, number) = try owner(of: foreign, key, besides: stamp)
        else { continue }
        throw Refusal(
          .contradiction,
          "\(name) has the stamp of the user \(stamp.user), and in soup \"\(soup.soup)\" records from generation "
            + "\(number) of the user \(owner) that are not in generation \(stamp.generation) of \(stamp.user)",
          fix: "have the device send the store with the stamp that it was issued with")
      }
    } catch let error as SnapshotError where error.isDamage {
      // Cannot be checked without the issued records.
    }
  }

  /// Returns the first elements of a soup by record ID, with the dates of their rows.
  private func dates(_ soup: SoupReading, in store: Store) throws -> [String: Int64] {
    let spec = QuerySpec(
      soupName: soup.soup, .all, orderPath: StoreField.soupEntryID, pageSize: Self.sample)
    // An unparsable element is an edit with a finding, and is skipped here.
    let elements = (try? store.queryValues(spec)) ?? []
    return elements.reduce(into: [:]) { dates, element in
      guard let id = element[soup.idField]?.string,
        let date = element[StoreField.lastModified]?.int
      else { return }
      dates[id] = date
    }
  }

  /// Returns the other user who was issued one of the records with its date, and the generation.
  private func owner(
    of records: [String: Int64], _ soup: String, besides stamp: Provenance
  ) throws -> (user: String, generation: Int)? {
    for user in try data.snapshots() where user != stamp.user && user != Provenance.globalUser {
      for number in try data.issuedGenerations(of: user).reversed() {
        let issued = try IssuedRecordReader(path: data.issued(number, of: user))
        let found = try issued.lookup(soup: soup, ids: records.keys)
        if found.contains(where: { $0.value.lastModified == records[$0.key] }) {
          return (user, number)
        }
      }
    }
    return nil
  }
}
