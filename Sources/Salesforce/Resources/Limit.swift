import JSON

/// A limit of an org.
package struct Limit: Sendable, Hashable {
  /// The maximum.
  package let maximum: Int
  /// The remaining amount.
  package let remaining: Int

  package init(maximum: Int, remaining: Int) {
    self.maximum = maximum
    self.remaining = remaining
  }
}

extension Session {
  /// The org's limits by name, such as `DailyApiRequests`.
  package func limits() async throws(OrgError) -> [String: Limit] {
    let call = OrgCall(.limits, "GET", path("limits"))
    guard let object = try await json(call).object else {
      throw Self.invalidResponse("the response is not an object", call)
    }
    var limits: [String: Limit] = [:]
    for (name, value) in object {
      guard let maximum = value["Max"]?.int, let remaining = value["Remaining"]?.int else {
        continue
      }
      limits[name] = Limit(maximum: Int(maximum), remaining: Int(remaining))
    }
    return limits
  }
}
