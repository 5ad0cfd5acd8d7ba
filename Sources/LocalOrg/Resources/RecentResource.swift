import JSON

/// `GET /recent`: the local org keeps no record of what was viewed.
enum RecentResource {
  @Sendable static func read(_ call: Call) throws(OrgError) -> Answer { .json([]) }
}
