import JSON
import Ledger
import MobileSync
import Salesforce

// Duplicates.
extension SnapshotPlanner {
  /// The verdict for a duplicate, created by a late request or by the device's own sync.
  ///
  /// `others` are further records that late requests created.
  func madeTwice(
    _ first: String?, _ second: String?, _ others: [String] = []
  ) throws -> Settlement {
    let isOurs = try second.map { try histories.history(ofRecord: $0).isOurs } == true
    var detail = OutcomeDetail.because(
      isOurs
        ? "a request without an answer arrived late and created the record as well"
        : "the device's own sync created the record as well", of: first)
    detail.otherID = second
    if let second, !others.isEmpty { detail.candidates = Set(others + [second]).sorted() }
    return Settlement(.duplicateCreated, detail)
  }

  /// The records of an edit that is not sent because of its duplicate: as they were reported, or
  /// those of its creation; nil if it has none.
  ///
  /// The device may have named a third record since, which a later edit reports.
  func openTwins(
    of edit: OpenEdit
  ) throws -> (first: String?, second: String?, others: [String])? {
    guard let creation = edit.creation, creation.recordID != nil else { return nil }
    if creation.isTwice || edit.decision == nil,
      let reported = try state.toldTwins(of: edit.id, ifOpen: true)
    {
      return reported
    }
    return creation.isTwice ? (creation.recordID, creation.deviceRecordID, []) : nil
  }

  /// The edits, each with its merge survivor, if an operator retried them and the org
  /// shows that the other record was deleted or merged; the ledger stores which one remains.
  ///
  /// If the org does not show that, the edit still has a duplicate: it is reported until the
  /// duplicate is fixed or an operator chooses a record.
  nonisolated(nonsending) func followingMended(
    _ edits: [OpenEdit], into plan: inout SnapshotPlan
  ) async throws -> [OpenEdit] {
    var (rest, chosen): ([OpenEdit], [Int64: String]) = ([], [:])
    for edit in edits {
      guard edit.decision?.decision == .retry, let twins = try twins(of: edit) else {
        rest.append(edit)
        continue
      }
      guard let id = try await remaining(of: twins, edit) else {
        var settlement = try madeTwice(twins.first, twins.second, twins.others)
        let words = settlement.detail.message ?? ""
        let one = twins.others.isEmpty ? "one" : "all but one"
        settlement.detail.message =
          words + "; the org does not show that \(one) of them was deleted or merged"
        plan.settled.append((edit, settlement))
        continue
      }
      if let creation = edit.creation {
        try state.note(.chosen(id), of: creation.id)
        chosen[creation.id] = id
      }
      rest.append(edit.choosing(id))
    }
    // Other edits of the same new record are sent to it in this run already.
    return rest.map { edit in
      edit.creation.flatMap { chosen[$0.id] }.map(edit.choosing) ?? edit
    }
  }

  /// The records of an edit, as last reported; nil if there is no duplicate.
  private func twins(of edit: OpenEdit) throws -> LedgerDatabase.Twins? {
    // A record recreated in place of a deleted one has no creation.
    if edit.decision?.verdict == .duplicateCreated,
      let reported = try state.toldTwins(of: edit.id)
    {
      return reported
    }
    guard let creation = edit.creation, creation.isTwice, let first = creation.recordID,
      let second = creation.deviceRecordID
    else { return nil }
    return (first, second, [])
  }

  /// The only remaining one of some records; the first if none exists, and nil if several may exist.
  private nonisolated(nonsending) func remaining(
    of twins: LedgerDatabase.Twins, _ edit: OpenEdit
  ) async throws -> String? {
    let ids = [twins.first, twins.second] + twins.others
    let written = try ids.compactMap { try histories.history(ofRecord: $0).writes.first?.sobject }
    let sobject = try written.first ?? histories.history(of: edit).sobject ?? edit.sobject
    guard let sobject, APIName.isValid(sobject) else { return nil }
    do {
      let alive = try await records.records(sobject, ids: ids, fields: ["Id"])
      let proofs = try await records.prove(sobject, absent: ids.filter { alive[$0] == nil })
      let left = ids.filter { proofs[$0]?.isGone != true }
      return left.count > 1 ? nil : left.first ?? twins.first
    } catch let error as OrgError {
      guard error.isAboutTheObject else { throw error.asked(about: sobject) }
      return nil
    }
  }
}

extension ServerRecord {
  /// Whether it is verified that the record no longer exists under its ID.
  fileprivate var isGone: Bool {
    switch self {
    case .deleted, .merged: true
    case .unknown, .alive, .hidden: false
    }
  }
}

extension OpenEdit {
  /// The same edit with the chosen one of its two records.
  func choosing(_ id: String) -> OpenEdit {
    var edit = self
    edit.creation?.recordID = id
    edit.creation?.deviceRecordID = id
    edit.remadeID = id
    return edit
  }
}
