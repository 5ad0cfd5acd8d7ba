/// Sharing of records, for tests and the demo; bypasses the checks of the API.
extension Org {
  /// Gives a user read access to a record, and with `edit` also write access.
  package func share(_ recordID: String, with username: String, edit: Bool = true)
    throws(OrgError)
  {
    try share([recordID], with: username, edit: edit)
  }

  /// Shares several records with a user.
  package func share(_ recordIDs: [String], with username: String, edit: Bool = true)
    throws(OrgError)
  {
    try locked { store in
      try store.transaction { try store.share(recordIDs, with: username, edit: edit) }
    }
  }

  /// Removes a user's share of a record.
  package func unshare(_ recordID: String, from username: String) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.unshare(recordID, from: username) }
    }
  }

  /// Changes a record's owner; existing shares remain.
  package func transfer(_ recordID: String, to username: String) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.transfer(recordID, to: username) }
    }
  }

  /// Restores a record from the recycle bin.
  package func undelete(_ recordID: String) throws(OrgError) {
    try locked { store in try store.transaction { try store.undelete(recordID) } }
  }

  package func purge(_ recordID: String) throws(OrgError) {
    try locked { store in try store.transaction { try store.purge(recordID) } }
  }

  /// Merges a record into another record of its object: the first is deleted, with `MasterRecordId`
  /// set.
  package func merge(_ recordID: String, into masterID: String) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.merge(recordID, into: masterID) }
    }
  }

  /// Locks a record, as an approval does, or unlocks it; only users who may modify all data can
  /// change a locked record.
  package func lock(_ recordID: String, _ locked: Bool = true) throws(OrgError) {
    try self.locked { store in try store.transaction { try store.setLock(recordID, locked) } }
  }

  /// Returns the records of some objects (nil for all) as JSON lines, ordered by ID; two orgs that
  /// received the same calls return the same text.
  package func dump(objects: [String]? = nil) throws(OrgError) -> String {
    try locked { try OrgDump(store: $0).lines(objects: objects) }
  }
}
