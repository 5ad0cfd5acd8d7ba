import HTTP
import Pipelines
import System

/// The review page of a pipeline, served on the loopback interface to one operator.
///
/// `ReviewAccess` decides whether a request may be answered, and `ReviewResources` answers it.
/// Requests to the org run as a `ReviewJob`, whose events the page polls.
package final class ReviewServer: Sendable {
  /// The URL to open in a browser, valid once.
  package let address: String
  private let server: HTTPServer
  private let resources: ReviewResources

  /// Serves the open edits of a pipeline.
  ///
  /// `root` is the directory that holds `<pipeline>/`, `variables` is the environment, `name` is
  /// the operator, and port 0 selects a free port. Throws `HTTPError` if the port is taken, or the
  /// error of a damaged ledger.
  package init(
    _ pipeline: Pipeline, root: String, variables: [String: String], by name: String,
    port: UInt16 = 0
  ) throws {
    let access = ReviewAccess()
    resources = try ReviewResources(
      pipeline, root: root, variables: variables, by: name)
    var configuration = HTTPServer.Configuration()
    configuration.port = port
    server = try HTTPServer(configuration) { [resources] request in
      var response = Self.answer(request, access, resources)
      for (name, value) in Self.guards { response.headers[name] = value }
      return response
    }
    address = server.url + access.open(port: server.port)
  }

  /// Waits until there was no request for a number of seconds.
  ///
  /// Throws if its task is cancelled.
  package func waitUntilIdle(seconds: Int) async throws {
    while true {
      let left = seconds - resources.idleSeconds
      if left <= 0 { return }
      try await Task.sleep(for: .seconds(left))
    }
  }

  /// Cancels the running job, and closes the server.
  package func stop() async {
    await resources.stop()
    server.stop()
  }

  /// The headers of every answer: no caching, no content sniffing, no referrer.
  ///
  /// `ReviewPage` has the policy for what the page may load.
  private static let guards = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  private static func answer(
    _ request: ServerRequest, _ access: ReviewAccess, _ resources: ReviewResources
  ) -> ServerResponse {
    guard access.isOwn(request) else { return forbidden }
    if request.path == "/", request.method == "GET", let token = request.query("token"),
      access.use(token)
    {
      return ServerResponse(status: 303, headers: ["Location": access.path])
    }
    guard let place = access.place(of: request) else { return forbidden }
    return resources.answer(request, place)
  }

  private static let forbidden = ServerResponse(
    status: 403,
    headers: ["Content-Type": "text/plain; charset=utf-8"],
    body: Array(
      """
      This is not the address of the page. What attache review printed opens it once; start it again for \
      a new address.

      """.utf8))
}
