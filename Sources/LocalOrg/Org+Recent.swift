/// The users' recent items.
extension Org {
  /// Returns the records that a user created, changed or viewed last, newest first; of one object
  /// or of all.
  package func recentItems(_ object: String? = nil, as user: OrgUser, limit: Int? = nil)
    throws(OrgError) -> [RecentItem]
  {
    try locked { store in
      let schema = try object.map { try store.table($0).schema }
      return try RecentItems(store: store, user: user)
        .list(schema, limit: limit ?? RecentItems.most)
    }
  }
}
