/// The changes that a second prime must fetch, computed from the org's own data rather than the
/// client's.
struct ExpectedChanges {
  private let org: DemoOrg
  private let changed: Set<String>

  /// Compares the org with `before`, the earlier stamps of its records.
  init(org: DemoOrg, objects: [String], before: [String: String]) throws {
    self.org = org
    let now = try org.stamps(of: objects)
    changed = Set(now.filter { before[$0.key] != $0.value }.keys)
  }

  /// Returns the number of records that a user's snapshot lacks or has in an old state, and of
  /// those that it must remove.
  func count(
    for username: String, held: Set<String>
  ) throws -> (fetched: Int, removed: Int) {
    let assigned = try org.briefcase(of: username).values.reduce(into: Set<String>()) {
      $0.formUnion($1)
    }
    let fetched = assigned.filter { changed.contains($0) || !held.contains($0) }
    return (fetched.count, held.subtracting(assigned).count)
  }
}
