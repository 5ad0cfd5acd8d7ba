import Ledger
import MobileSync
import Salesforce

/// The referent of a reference that cannot be sent as it is.
enum Referent {
  /// A record by its current ID; also its creation, if the device knows it by its local ID.
  case record(String, OpenEdit.Creation?)
  /// A new record without an ID.
  case new(OpenEdit.Creation)
  /// A local ID that is not known from any edit.
  case unknown
}

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

  /// The referent of an edit's reference; nil if the reference is sent as it is.
  nonisolated(nonsending) func referent(
    _ text: String, of edit: OpenEdit
  ) async throws -> Referent? {
    if let id = text.recordID18 {
      let current = try await current(id)
      return current == id ? nil : .record(current, nil)
    }
    guard let creation = try state.creation(localID: text, of: edit) else {
      // Anything but a local ID is an ordinary value, which the org validates.
      return LocalFields.isLocalID(text) ? .unknown : nil
    }
    guard let id = creation.recordID ?? creation.deviceRecordID else { return .new(creation) }
    return .record(try await current(id), creation)
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
