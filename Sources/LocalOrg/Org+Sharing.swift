/// Who sees what: for tests and the demo, past the checks of the API.
extension Org {
  /// Lets a user read a record, and with `edit` change it.
  package func share(_ recordID: String, with username: String, edit: Bool = true)
    throws(OrgError)
  {
    try locked { store in
      try store.transaction { try store.share(recordID, with: username, edit: edit) }
    }
  }

  /// Takes a record from a user that it was shared with.
  package func unshare(_ recordID: String, from username: String) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.unshare(recordID, from: username) }
    }
  }

  /// Gives a record another owner; what was shared stays shared.
  package func transfer(_ recordID: String, to username: String) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.transfer(recordID, to: username) }
    }
  }

  /// Takes a record out of the recycle bin.
  package func undelete(_ recordID: String) throws(OrgError) {
    try locked { store in try store.transaction { try store.undelete(recordID) } }
  }

  /// Removes a record from the recycle bin for good.
  package func purge(_ recordID: String) throws(OrgError) {
    try locked { store in try store.transaction { try store.purge(recordID) } }
  }

  /// Merges a record into another of its object: it is deleted, with `MasterRecordId` set.
  package func merge(_ recordID: String, into masterID: String) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.merge(recordID, into: masterID) }
    }
  }

  /// Locks a record, as an approval does, or unlocks it: only who may modify all data changes it.
  package func lock(_ recordID: String, _ locked: Bool = true) throws(OrgError) {
    try self.locked { store in try store.transaction { try store.setLock(recordID, locked) } }
  }

  /// The records of some objects (all, when nil) as JSON lines in the order of ids: two orgs fed
  /// the same calls have the same.
  package func dump(objects: [String]? = nil) throws(OrgError) -> String {
    try locked { try OrgDump(store: $0).lines(objects: objects) }
  }
}
