import JSON

/// Profiles, permission sets, and other setup.
extension Org {
  /// Replaces the org's setup with that of a file.
  package func setUp(_ setup: OrgSetup) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.setUp(setup) }
      try store.use(setup)
    }
  }

  /// Every object that a user may read, in the order of a global describe.
  package func objects(as user: OrgUser) -> [ObjectSchema] {
    (try? locked { $0.catalog(of: user).objects }) ?? []
  }

  /// The object with that name as the user sees it, ignoring case; nil if it is hidden.
  package func schema(_ name: String, as user: OrgUser) -> ObjectSchema? {
    (try? locked { $0.catalog(of: user).object(name) }) ?? nil
  }

  /// The record types of an object, oldest first.
  func recordTypes(of object: String) -> [RecordType] {
    (try? locked { try $0.recordTypes(of: object) }) ?? []
  }

  /// Returns how often the org was set up since it was opened, and the time of the last setup.
  func setupAge() -> (count: Int, changedAt: Int64) {
    (try? locked { ($0.setups, $0.setUpAt) }) ?? (0, 0)
  }
}
