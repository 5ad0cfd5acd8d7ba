import JSON
import Ledger
import MobileSync
import Salesforce

// What the references of an element name.
extension SnapshotPlanner {
  /// What a reference names that cannot be sent as it stands.
  enum Referent {
    /// A record by the Id that it has now; of a creation, where the device knows it by its local id.
    case record(String, OpenEdit.Creation?)
    /// A new record that has no Id yet.
    case new(OpenEdit.Creation)
    /// A local id that none of the edits knows.
    case unknown
  }

  /// What a reference of an edit names; nil where it is sent as it stands.
  nonisolated(nonsending) func referent(
    _ text: String, of edit: OpenEdit
  ) async throws -> Referent? {
    if let id = text.recordID18 {
      let current = try await remade.current(id)
      return current == id ? nil : .record(current, nil)
    }
    guard let creation = try state.creation(localID: text, of: edit) else {
      // What no device made up is a value like any other: the org says what it thinks of it.
      return LocalFields.isLocalID(text) ? .unknown : nil
    }
    guard let id = creation.recordID ?? creation.deviceRecordID else { return .new(creation) }
    return .record(try await remade.current(id), creation)
  }

  /// Replaces local ids by the ids that their records got, and Ids of records that were made anew by those they have
  /// now, and notes those that have none yet.
  nonisolated(nonsending) func resolveReferences(_ send: inout PlannedSend) async throws
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

  /// Lets what refers to a record that this plan makes anew wait for it.
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

  /// Says whether a field may hold an Id: a text that begins like a local id is a text.
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

  /// The Ids in an element's members: lookups, for all we know.
  static func references(_ element: JSONObject) -> Set<String> {
    var ids: Set<String> = []
    for (name, value) in element where name != "Id" {
      if let id = value.string?.recordID18 { ids.insert(id) }
    }
    return ids
  }
}

extension PlannedSend {
  /// Lets it wait for a record whose Id goes into a field.
  fileprivate mutating func wait(for record: NewRecord, in field: String) {
    needs.insert(record)
    waiting[field] = record
  }

  /// Tells that a field is sent with the Id of a record that was made anew, and not with what the device holds.
  fileprivate mutating func tellRemade(_ field: String, _ old: String) {
    let words = "\(field) names the record that was made anew in the place of \(old)"
    expected.detail.message = [expected.detail.message, words].compactMap(\.self)
      .joined(separator: "; ")
  }
}
