import Archive
import HTTP

/// Compression of bodies with gzip.
enum Compressed {
  /// Smaller bodies are not compressed.
  private static let leastBytes = 1024

  /// Returns the request with its body decompressed; nil if this fails.
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

  /// Returns the response compressed if its client accepts that; a generated body is sent
  /// unchanged.
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
