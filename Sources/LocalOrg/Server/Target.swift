import HTTP

/// The parsed target of a request; the router decides what it means.
struct Target: Sendable {
  /// The method, after applying `?_HTTP_METHOD=`.
  let method: String
  /// The decoded path segments, without empty ones: a trailing slash is ignored.
  let segments: [String]
  /// The decoded query parameters.
  let query: [(String, String)]

  init(_ request: ServerRequest) {
    let path = request.rawTarget.prefix { $0 != "?" }
    segments = path.split(separator: "/").map { HTTPQuery.decode(path: $0) }
    query = request.query
    method = Self.method(request.method, query)
  }

  /// The target of a part of a composite request.
  init(method: String, url: String) {
    let request = ServerRequest(
      method: method, rawTarget: url.hasPrefix("/") ? url : "/" + url, headers: [:], body: [],
      remote: "")
    self.init(request)
  }

  /// The first value of a query parameter.
  func query(_ name: String) -> String? { query.first { $0.0 == name }?.1 }

  /// The version and the segments below `/services/data/vNN.0`; nil if the path has another form.
  ///
  /// The prefix itself may be missing, since batch clients omit it.
  var dataPath: (version: String, rest: [String])? {
    var rest = segments[...]
    if rest.starts(with: ["services", "data"]) { rest = rest.dropFirst(2) }
    guard let first = rest.first, first.hasPrefix("v"), first.hasSuffix(".0"),
      let number = Int(first.dropFirst().dropLast(2)), VersionResource.numbers.contains(number)
    else { return nil }
    return ("\(number).0", Array(rest.dropFirst()))
  }

  private static func method(_ method: String, _ query: [(String, String)]) -> String {
    guard method == "POST" else { return method }
    return query.first { $0.0 == "_HTTP_METHOD" }?.1.uppercased() ?? method
  }
}
