import SQLite

extension LedgerDatabase {
  /// Whether an edit is the only one of its record: the ledger has no other edit with any of the
  /// record's IDs, and attache has neither created nor changed the record.
  ///
  /// This is true of most edits. Such an edit has no conflicts, no predecessors and no prior write
  /// to compare with. One check by indexes answers all of these questions.
  package func isAlone(_ edit: OpenEdit) throws -> Bool {
    let (id, record) = (edit.id, edit.recordID)
    // A record recreated in place of a deleted one had another ID before.
    let former = edit.serverID == record ? nil : edit.serverID
    return try connection.integer(
      """
      SELECT EXISTS (SELECT 1 FROM edit WHERE record_id = \(record) AND id <> \(id))
        OR EXISTS (SELECT 1 FROM edit WHERE record_id = \(former) AND id <> \(id))
        OR EXISTS (SELECT 1 FROM edit WHERE creation_id = \(edit.creation?.id) AND id <> \(id))
        OR EXISTS (SELECT 1 FROM creation c JOIN edit f ON f.creation_id = c.id
          WHERE c.record_id = \(record) AND f.id <> \(id))
        OR EXISTS (SELECT 1 FROM operation
          WHERE result_id = \(record) AND state = \(OperationState.done))
      """) == 0
  }
}
