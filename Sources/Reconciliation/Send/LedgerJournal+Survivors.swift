import JSON
import Ledger
import MobileSync
import Salesforce

// Edits that refer to records that were merged.
extension LedgerJournal {
  /// A reference to a record that was merged into another one.
  private typealias Merged = (field: String, id: String, survivor: String)

  /// Adds the surviving record to the verdict of edits that the org refused because a record that
  /// they refer to was deleted by a merge; restoring the merged record would not help.
  ///
  /// One query is made per object; if it fails, the message is left as it is.
  nonisolated(nonsending) func nameSurvivors() async throws {
    let refused = takeOrphans()
    if refused.isEmpty { return }
    var references: [String: Set<String>] = [:]
    var places: [(send: Write, refusal: RowRefusal, field: String, id: String)] = []
    for (send, refusal) in refused {
      for (field, id, objects) in await lookups(of: send, refusal) {
        places.append((send, refusal, field, id))
        for object in objects { references[object, default: []].insert(id) }
      }
    }
    let survivors = await survivors(of: references)
    for (send, refusal, field, id) in places {
      guard let survivor = survivors[id] else { continue }
      let words = Self.words((field, id, survivor), refusal)
      try reconciler.state.amend(send.edit.id, run: reconciler.run.id) { detail in
        // The undo has another message.
        guard detail.code == refusal.code else { return }
        (detail.message, detail.otherID) = (words, survivor)
      }
    }
  }

  private static func words(_ merged: Merged, _ refusal: RowRefusal) -> String {
    """
    \(refusal.message): \(merged.field) refers to \(merged.id), which was merged into \(merged.survivor); use \
    --set \(merged.field)=\(merged.survivor)
    """
  }

  /// The references that a refusal may be about, with the objects that they may refer to.
  private nonisolated(nonsending) func lookups(
    of send: Write, _ refusal: RowRefusal
  ) async -> [(field: String, id: String, objects: [String])] {
    guard let describe = try? await access.describe(send.sobject) else { return [] }
    let blamed = Set(refusal.fields.map { $0.lowercased() })
    return send.payload.compactMap { name, value in
      guard blamed.isEmpty || blamed.contains(name.lowercased()),
        let id = value.string?.recordID18, let field = describe.field(name),
        field.type == "reference"
      else { return nil }
      return (name, id, field.referenceTo)
    }
  }

  /// The records that others were merged into, by the IDs of the latter.
  private nonisolated(nonsending) func survivors(
    of references: [String: Set<String>]
  ) async -> [String: String] {
    var survivors: [String: String] = [:]
    for (object, ids) in references.sorted(by: { $0.key < $1.key }) {
      guard let describe = try? await access.describe(object),
        describe.field("MasterRecordId") != nil
      else { continue }
      let own = ids.filter { id in describe.keyPrefix.map(id.hasPrefix) ?? true }.sorted()
      guard let fates = try? await access.fates(of: own, object) else { continue }
      for case (let id, .merged(let master)) in fates { survivors[id] = master }
    }
    return survivors
  }
}
