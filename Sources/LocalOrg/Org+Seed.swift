/// Generation of sample data.
extension Org {
  /// Fills the org with related records; equal options produce equal records.
  package func seed(_ options: SeedOptions = SeedOptions()) throws(OrgError) {
    try locked { store in
      try store.transaction { try Seeder(store: store, options: options).run() }
    }
  }

  /// Adds `count` records of one object quickly, owned by the integration user by default.
  package func seedBulk(
    object: String, count: Int, seed: UInt64 = 1, owner username: String? = nil
  ) throws(OrgError) {
    try locked { store in
      try BulkSeeder(store: store, seed: seed).run(object: object, count: count, owner: username)
    }
  }
}
