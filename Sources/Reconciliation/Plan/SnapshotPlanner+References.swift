import JSON
import Ledger
import MobileSync
import Salesforce

// The referents of an element's references.
extension SnapshotPlanner {
  /// The referent of an edit's reference; nil if the reference is sent as it is.
  nonisolated(nonsending) func referent(
    _ text: String, of edit: OpenEdit
  ) async throws -> Referent? {
    try await remade.referent(text, of: edit)
  }

  /// Replaces local IDs with the IDs of their records, and IDs of recreated records with the
  /// current ones; notes the records that have no ID yet.
  nonisolated(nonsending) func resolveReferences(_ send: inout Write) async throws
    -> String?
  {
    for (name, value) in send.payload {
      guard let text = value.string, !text.isEmpty, try await mayRefer(name, of: send.sobject),
        let referent = try await referent(text, of: send.edit)
      else { continue }
      switch referent {
      case .unknown: return "\(name) refers to a record that is not among the edits of this bundle"
      case .record(let id, let creation):
        send.payload[name] = .string(id)
        if creation.map({ $0.isRemade || id != $0.recordID ?? $0.deviceRecordID }) ?? true {
          send.tellRemade(name, text)
        }
        if let creation, let level = try state.level(creationID: creation.id, run: run) {
          send.floor = max(send.floor, level + 1)
        }
      case .new(let creation):
        if options.orderParentsFirst { send.wait(for: .of(creation: creation.id), in: name) }
      }
    }
    return nil
  }

  /// Makes references to a record that this plan recreates wait for it.
  nonisolated(nonsending) func followRemade(_ plan: inout SnapshotPlan) async throws {
    let makers = Dictionary(
      plan.sends.compactMap { send -> (String, Int64)? in
        guard case .inPlace(let id)? = Self.makes(send) else { return nil }
        return (id, send.edit.id)
      }
    ) { first, _ in first }
    guard options.orderParentsFirst, !makers.isEmpty else { return }
    for index in plan.sends.indices {
      let send = plan.sends[index]
      for (name, value) in send.payload {
        guard let text = value.string, let id = text.recordID18, let maker = makers[id],
          maker != send.edit.id, try await mayRefer(name, of: send.sobject)
        else { continue }
        plan.sends[index].wait(for: .inPlace(of: id), in: name)
        plan.sends[index].tellRemade(name, id)
      }
    }
  }

  /// Whether a field can have an ID.
  ///
  /// In other fields, text that looks like a local ID is text.
  private nonisolated(nonsending) func mayRefer(
    _ name: String, of sobject: String
  ) async throws -> Bool {
    do {
      guard let field = try await records.describe(sobject).field(name) else { return true }
      return field.type == "reference" || field.type == "id"
    } catch {
      guard error.isAboutTheObject else { throw error }
      return true
    }
  }

  /// The IDs in an element's members, which are possible lookups.
  static func references(_ element: JSONObject) -> Set<String> {
    var ids: Set<String> = []
    for (name, value) in element where name != "Id" {
      if let id = value.string?.recordID18 { ids.insert(id) }
    }
    return ids
  }
}

extension Write {
  /// Waits for a record whose ID goes into a field.
  fileprivate mutating func wait(for record: NewRecord, in field: String) {
    needs.insert(record)
    waiting[field] = record
  }

  /// Reports that a field is sent with the ID of a recreated record instead of the device's value.
  fileprivate mutating func tellRemade(_ field: String, _ old: String) {
    operation.expected.detail.add(
      "\(field) refers to the record that was recreated in place of \(old)")
  }
}
