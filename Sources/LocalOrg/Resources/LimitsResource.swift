import JSON

/// `GET /limits`.
enum LimitsResource {
  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let settings = call.settings
    let used = settings.usage()
    func limit(_ most: Int, _ remaining: Int) -> JSONValue {
      ["Max": JSONValue(most), "Remaining": JSONValue(max(remaining, 0))]
    }
    return .json([
      "DailyApiRequests": limit(settings.dailyLimit, settings.dailyLimit - used),
      "DailyBulkApiBatches": limit(15_000, 15_000),
      "DailyBulkV2QueryJobs": limit(10_000, 10_000),
      "DailyBulkV2QueryFileStorageMB": limit(976_562, 976_562),
      "DataStorageMB": limit(1024, 1024), "FileStorageMB": limit(1024, 1024),
    ])
  }
}
