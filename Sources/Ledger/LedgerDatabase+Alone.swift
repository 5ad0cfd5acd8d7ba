import SQLite

extension LedgerDatabase {
  /// Says whether an edit is all that there is of its record, as most are: no other edit is of the record, by any of
  /// its Ids, and no write of ours has made or changed it.
  ///
  /// Then nobody is in its way, nothing comes before it, and nothing of ours is to be compared with. It is asked once
  /// for all of these questions, by indexes alone.
  package func isAlone(_ edit: OpenEdit) throws -> Bool {
    let (id, record) = (edit.id, edit.recordID)
    // One that was made anew in place of a deleted one has another Id before that.
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
