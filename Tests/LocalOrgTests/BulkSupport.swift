import CSV
import HTTP
import JSON

/// Jobs of the Bulk API as a client runs them.
extension ServedOrg {
  /// Creates an ingest job, uploads rows, closes it and waits until it ends; returns its ID.
  func ingest(
    _ operation: String, _ object: String, _ csv: String, _ more: JSONObject = [:]
  ) async throws -> String {
    var body: JSONObject = ["operation": .string(operation), "object": .string(object)]
    for (name, value) in more { body[name] = value }
    let job = try await send("POST", "/jobs/ingest", .object(body))
    guard let id = job.json["id"]?.string else { throw Unexpected(response: job) }
    let upload = try await upload(id, csv)
    guard upload.status == 201 else { throw Unexpected(response: upload) }
    try await close(id)
    return id
  }

  func upload(_ id: String, _ csv: String, type: String = "text/csv") async throws -> HTTPResponse {
    var request = HTTPRequest("PUT", server.url + Self.version + "/jobs/ingest/\(id)/batches")
    request.headers["Authorization"] = "Bearer " + token
    request.headers["Content-Type"] = type
    request.body = Array(csv.utf8)
    return try await client.send(request)
  }

  func close(_ id: String) async throws {
    let closed = try await send("PATCH", "/jobs/ingest/\(id)", ["state": "UploadComplete"])
    guard closed.status == 200 else { throw Unexpected(response: closed) }
  }

  func queryJob(_ soql: String, _ more: JSONObject = [:]) async throws -> String {
    var body: JSONObject = ["operation": "query", "query": .string(soql)]
    for (name, value) in more { body[name] = value }
    let job = try await send("POST", "/jobs/query", .object(body))
    guard let id = job.json["id"]?.string else { throw Unexpected(response: job) }
    return id
  }

  /// One of the CSVs of a job, as rows starting with the header.
  func rows(_ path: String, delimiter: Character = ",") async throws -> [[String]] {
    let response = try await send("GET", "/jobs/" + path)
    guard response.status == 200 else { throw Unexpected(response: response) }
    var rows: [[String]] = []
    var reader = CSVReader(delimiter: delimiter.asciiValue ?? 0)
    try response.body.withUnsafeBytes { try reader.feed($0) { rows.append($0) } }
    try reader.finish { rows.append($0) }
    return rows
  }

  func job(_ path: String) async throws -> JSONValue { try await send("GET", "/jobs/" + path).json }
}
