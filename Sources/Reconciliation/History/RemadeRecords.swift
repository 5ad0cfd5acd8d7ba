import Ledger
import MobileSync
import Salesforce

/// The current records for IDs that devices know.
///
/// A record recreated in place of a deleted one replaces it as long as the latter stays deleted,
/// because users can undelete it.
final class RemadeRecords {
  private let state: LedgerDatabase
  private let records: RecordReader
  /// The current IDs, by requested ID.
  private var known: [String: String] = [:]

  /// Uses the ledger's recreated records; `records` checks whether the originals are still deleted.
  init(_ state: LedgerDatabase, _ records: RecordReader) {
    (self.state, self.records) = (state, records)
  }

  /// The current record for an 18-character ID.
  nonisolated(nonsending) func current(_ id: String) async throws -> String {
    if known[id] == nil { try await learn([id]) }
    return known[id] ?? id
  }

  /// Looks up the current records for some IDs in one query.
  nonisolated(nonsending) func learn(_ ids: Set<String>) async throws {
    let asked = ids.filter { known[$0] == nil }
    var open = Dictionary(asked.map { ($0, $0) }) { $1 }
    while !open.isEmpty {
      let next = try state.remade(Set(open.values))
      let alive = try await alive(next)
      for (id, current) in open {
        if let following = next[current], !alive.contains(current) {
          // It may itself have been deleted and recreated.
          open[id] = following.id
        } else {
          known[id] = current
          open[id] = nil
        }
      }
    }
  }

  /// The records that exist although they were recreated.
  private nonisolated(nonsending) func alive(
    _ remade: [String: RemadeRecord]
  ) async throws -> Set<String> {
    var alive: Set<String> = []
    for (sobject, group) in Dictionary(grouping: remade, by: \.value.sobject)
      .sorted(by: { $0.key < $1.key })
    {
      do throws(OrgError) {
        let ids = group.map(\.key).sorted()
        alive.formUnion(try await records.records(sobject, ids: ids, fields: ["Id"]).keys)
      } catch {
        // The write that refers to it will report what is wrong with the object.
        guard error.isAboutTheObject else { throw error }
      }
    }
    return alive
  }
}
