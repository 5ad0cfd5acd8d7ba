import JSON

/// Profiles, permission sets, and what else an administrator sets up.
extension Org {
  /// Sets the org up as a file says, instead of what was set up before.
  package func setUp(_ setup: OrgSetup) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.setUp(setup) }
      store.use(setup)
    }
  }

  /// Every object that a user may read, in the order of a global describe.
  package func objects(as user: OrgUser) -> [ObjectSchema] {
    (try? locked { $0.catalog(of: user).objects }) ?? []
  }

  /// The object of that name as a user sees it, whatever the name's case; nil when it is hidden.
  package func schema(_ name: String, as user: OrgUser) -> ObjectSchema? {
    (try? locked { $0.catalog(of: user).object(name) }) ?? nil
  }

  /// The record types of an object, oldest first.
  func recordTypes(of object: String) -> [RecordType] {
    (try? locked { try $0.recordTypes(of: object) }) ?? []
  }

  /// How often the org was set up since it was opened, and when last.
  func setupAge() -> (count: Int, changedAt: Int64) {
    (try? locked { ($0.setups, $0.setUpAt) }) ?? (0, 0)
  }
}
