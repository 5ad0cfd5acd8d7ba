/// Maps paths of the data API to resources.
enum Router {
  /// The first match wins, so literal segments come before `*`.
  static let routes: [Route] = data + bulk

  private static let bulk: [Route] = [
    Route(
      "jobs/query", since: 47, .init("GET", .bulkRead, BulkResource.query.list),
      .init("POST", .bulkCreate, BulkResource.query.create)),
    Route(
      "jobs/query/*", since: 47, .init("GET", .bulkRead, BulkResource.query.read),
      .init("PATCH", .bulkClose, BulkResource.query.update),
      .init("DELETE", .bulkDelete, BulkResource.query.delete)),
    Route("jobs/query/*/results", since: 47, .init("GET", .bulkResults, BulkQueryResults.read)),
    Route("jobs/query/*/resultPages", since: 58, .init("GET", .bulkRead, BulkQueryResults.pages)),
    Route(
      "jobs/ingest", since: 41, .init("GET", .bulkRead, BulkResource.ingest.list),
      .init("POST", .bulkCreate, BulkResource.ingest.create)),
    Route(
      "jobs/ingest/*", since: 41, .init("GET", .bulkRead, BulkResource.ingest.read),
      .init("PATCH", .bulkClose, BulkResource.ingest.update),
      .init("DELETE", .bulkDelete, BulkResource.ingest.delete)),
    Route("jobs/ingest/*/batches", since: 41, .init("PUT", .bulkUpload, BulkIngestResource.upload)),
    Route(
      "jobs/ingest/*/successfulResults", since: 41,
      .init("GET", .bulkResults, BulkIngestResource.successful)),
    Route(
      "jobs/ingest/*/failedResults", since: 41,
      .init("GET", .bulkResults, BulkIngestResource.failed)),
    Route(
      "jobs/ingest/*/unprocessedrecords", since: 41,
      .init("GET", .bulkResults, BulkIngestResource.unprocessed)),
  ]

  private static let data: [Route] = [
    Route("", .init("GET", .resources, VersionResource.resources)),
    Route("limits", .init("GET", .limits, LimitsResource.read)),
    Route("limits/recordCount", since: 40, .init("GET", .limits, LimitsResource.recordCount)),
    Route("recent", .init("GET", .recent, RecentResource.read)),
    Route("query", .init("GET", .query, QueryResource.query)),
    Route("queryAll", .init("GET", .query, QueryResource.queryAll)),
    Route("query/*", .init("GET", .queryMore, QueryResource.more)),
    Route("queryAll/*", .init("GET", .queryMore, QueryResource.more)),
    Route("search", .init("GET", .search, SearchResource.read)),
    Route(
      "parameterizedSearch", since: 36,
      .init("GET", .search, ParameterizedSearchResource.readQuery),
      .init("POST", .search, ParameterizedSearchResource.readBody)),
    Route("sobjects", .init("GET", .describeGlobal, DescribeResource.global)),
    Route(
      "sobjects/*", .init("GET", .object, DescribeResource.basic),
      .init("POST", .rowCreate, RowResource.create)),
    Route("sobjects/*/describe", .init("GET", .describe, DescribeResource.full)),
    Route("sobjects/*/describe/layouts", .init("GET", .describe, LayoutsResource.list)),
    Route("sobjects/*/describe/layouts/*", .init("GET", .describe, LayoutsResource.read)),
    Route("sobjects/*/deleted", .init("GET", .changes, ChangesResource.deleted)),
    Route("sobjects/*/updated", .init("GET", .changes, ChangesResource.updated)),
    Route(
      "sobjects/*/*", .init("GET", .rowRead, RowResource.read),
      .init("PATCH", .rowUpdate, RowResource.update),
      .init("DELETE", .rowDelete, RowResource.delete),
      .init("POST", .rowUpsert, ExternalRowResource.createWithoutValue)),
    Route(
      "sobjects/*/*/*", .init("GET", .rowRead, ExternalRowResource.read),
      .init("PATCH", .rowUpsert, ExternalRowResource.upsert),
      .init("DELETE", .rowDelete, ExternalRowResource.delete)),
    Route(
      "composite", since: 34, .init("GET", .resources, VersionResource.composites),
      .init("POST", .composite, CompositeResource.run)),
    Route("composite/batch", since: 34, .init("POST", .batch, BatchResource.run)),
    Route("composite/tree/*", since: 34, .init("POST", .tree, TreeResource.create)),
    Route(
      "composite/sobjects", since: 42,
      .init("POST", .collectionCreate, CollectionResource.create),
      .init("PATCH", .collectionUpdate, CollectionResource.update),
      .init("DELETE", .collectionDelete, CollectionResource.delete)),
    Route(
      "composite/sobjects/*", since: 42, .init("GET", .retrieve, RetrieveResource.readQuery),
      .init("POST", .retrieve, RetrieveResource.readBody)),
    Route(
      "composite/sobjects/*/*", since: 42,
      .init("PATCH", .collectionUpsert, CollectionResource.upsert)),
    Route("ui-api/layout/*", since: 41, .init("GET", .layout, LayoutResource.read)),
    Route(
      "connect/briefcase/priming-records", since: 54, .init("GET", .priming, PrimingResource.read)),
  ]

  /// The kind of request for a path below a version.
  static func kind(of target: Target) -> RequestKind {
    guard let (_, path) = target.dataPath else { return .unknown }
    let route = routes.first { $0.matches(path) }
    return route?.method(target.method)?.kind ?? .unknown
  }

  /// Processes a call; errors become responses.
  static func answer(_ call: APIRequest) -> APIResponse {
    do throws(OrgError) {
      guard
        let route = routes.first(where: {
          $0.matches(call.path) && $0.since <= call.versionNumber
        })
      else {
        throw .notFound
      }
      guard let method = route.method(call.target.method) else {
        throw .methodNotAllowed(call.target.method, allowed: route.methods.map(\.name))
      }
      return try method.work(call)
    } catch {
      return .failure([error])
    }
  }
}
