import Archive
import HTTP

/// Bodies that are compressed with gzip.
enum Compressed {
  /// Less than this is sent as it is.
  private static let leastBytes = 1024

  /// The request with its body unpacked; nil where it cannot be.
  static func plain(_ request: ServerRequest, limit: Int) -> ServerRequest? {
    guard let encoding = request.headers["Content-Encoding"], encoding.lowercased() != "identity"
    else { return request }
    guard encoding.lowercased() == "gzip",
      let body = try? Compression.gunzip(request.body, limit: limit)
    else { return nil }
    return ServerRequest(
      method: request.method, rawTarget: request.rawTarget, headers: request.headers, body: body,
      remote: request.remote)
  }

  /// The answer packed, if its client reads that; what is made while it is sent goes as it is.
  static func answer(_ response: ServerResponse, to request: ServerRequest) -> ServerResponse {
    let accepted = (request.headers["Accept-Encoding"] ?? "").split(separator: ",").map {
      $0.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    }
    guard accepted.contains("gzip"), response.stream == nil,
      response.body.count >= leastBytes,
      let body = try? Compression.gzip(response.body, level: 1)
    else { return response }
    var packed = response
    packed.body = body
    packed.headers["Content-Encoding"] = "gzip"
    packed.headers["Vary"] = "Accept-Encoding"
    return packed
  }
}
