import JSON

/// `GET /limits`.
enum LimitsResource {
  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let server = call.server
    let used = server.usage()
    let bulk = try call.org.bulkUsage()
    func limit(_ most: Int, _ remaining: Int) -> JSONValue {
      ["Max": JSONValue(most), "Remaining": JSONValue(max(remaining, 0))]
    }
    return .json([
      "DailyApiRequests": limit(server.options.dailyLimit, server.options.dailyLimit - used),
      "DailyBulkApiBatches": limit(15_000, 15_000 - bulk.batches),
      "DailyBulkV2QueryJobs": limit(10_000, 10_000 - bulk.queries),
      "DailyBulkV2QueryFileStorageMB": limit(976_562, 976_562),
      "DataStorageMB": limit(1024, 1024), "FileStorageMB": limit(1024, 1024),
    ])
  }

  /// `GET /limits/recordCount?sObjects=Account,Contact`: an object without records is omitted.
  @Sendable static func recordCount(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let names = call.target.query("sObjects").map {
      Set($0.split(separator: ",").map { $0.lowercased().filter { $0 != " " } })
    }
    let counts = try call.org.recordCounts(as: call.user) {
      names?.contains($0.name.lowercased()) ?? true
    }
    return .json([
      "sObjects": .array(
        counts.map { ["count": JSONValue($0.count), "name": .string($0.object)] })
    ])
  }
}
