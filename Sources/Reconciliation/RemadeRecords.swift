import Ledger
import MobileSync
import Salesforce

/// Which records are meant by Ids that devices know: one that this pipeline has made anew in the place of a deleted
/// one stands for it while it stays deleted, for the office can undelete it.
final class RemadeRecords {
  private let state: LedgerDatabase
  private let records: RecordReader
  /// By Ids that were asked about.
  private var known: [String: String] = [:]

  /// What the ledger tells; `records` sees what is deleted still.
  init(_ state: LedgerDatabase, _ records: RecordReader) {
    (self.state, self.records) = (state, records)
  }

  /// The record that is meant by an Id of 18 characters.
  nonisolated(nonsending) func current(_ id: String) async throws -> String {
    if known[id] == nil { try await learn([id]) }
    return known[id] ?? id
  }

  /// Learns at once which records are meant by some Ids.
  nonisolated(nonsending) func learn(_ ids: Set<String>) async throws {
    let asked = ids.filter { known[$0] == nil }
    var open = Dictionary(asked.map { ($0, $0) }) { $1 }
    while !open.isEmpty {
      let next = try state.remade(Set(open.values))
      let alive = try await alive(next)
      for (id, current) in open {
        if let following = next[current], !alive.contains(current) {
          // It may have been deleted and made anew in its turn.
          open[id] = following.id
        } else {
          known[id] = current
          open[id] = nil
        }
      }
    }
  }

  /// Those of some records that are there although they were made anew.
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
        // The write that refers to it will be told what is wrong with the object.
        guard error.isAboutTheObject else { throw error }
      }
    }
    return alive
  }
}
