import JSON
import MobileSync
import Reconciliation
import Returns
import SmartStore
import Snapshots
import System

extension ReturnReading {
  /// Elements of a soup that are looked up: the first ones, which were issued, as a device adds its own behind them.
  private static let sample = 8

  /// Refuses a store that holds a record as it was issued to another user, and not to the user of its stamp.
  ///
  /// An app that moves stamps between the stores of two users would have the edits of the one sent as the other.
  func checkOwner(
    of store: Store, _ validated: ValidatedStore, _ soups: [SoupReading], _ name: String
  ) throws {
    let stamp = validated.stamp
    let path = data.issued(stamp.generation, of: stamp.user)
    guard validated.scope == .user, hasRecords, Files.exists(path) else { return }
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
          "\(name) has the stamp of the user \(stamp.user), and in soup \"\(soup.soup)\" records that generation "
            + "\(number) of the user \(owner) has and generation \(stamp.generation) of \(stamp.user) has not",
          fix: "hand the store back with the stamp that it was issued with")
      }
    } catch let error as SnapshotError where error.isDamage {
      // Without what was issued nobody can say.
    }
  }

  /// The first elements of a soup by their record ids, with the dates of their rows.
  private func dates(_ soup: SoupReading, in store: Store) throws -> [String: Int64] {
    let spec = QuerySpec(
      soupName: soup.soup, .all, orderPath: StoreField.soupEntryID, pageSize: Self.sample)
    // What no JSON parser reads is an edit with a finding; here it tells nothing.
    let elements = (try? store.queryValues(spec)) ?? []
    return elements.reduce(into: [:]) { dates, element in
      guard let id = element[soup.idField]?.string,
        let date = element[StoreField.lastModified]?.int
      else { return }
      dates[id] = date
    }
  }

  /// Who else was issued one of the records at its date, and in which generation.
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
