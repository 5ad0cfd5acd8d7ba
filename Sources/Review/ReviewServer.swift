import HTTP
import Pipelines
import System

/// The review page of a pipeline, served on the loopback interface to one person.
///
/// The way of a request: `ReviewAccess` decides whether it may be answered, `ReviewResources` answers it,
/// and what has to ask the org or to send is a `ReviewJob`, whose events the page asks for.
package final class ReviewServer: Sendable {
  /// What to open in a browser; it can be used once.
  package let address: String
  private let server: HTTPServer
  private let resources: ReviewResources

  /// Serves the open edits of a pipeline.
  ///
  /// `root` is the directory that holds `<pipeline>/`, `variables` are those of the environment, `name` is
  /// who decides, port 0 is a free one. Throws `HTTPError` if the port is taken, and what a damaged ledger
  /// throws.
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

  /// Waits until nobody has asked for anything for so long; throws when its task is cancelled.
  package func waitUntilIdle(seconds: Int) async throws {
    while true {
      let left = seconds - resources.idleSeconds
      if left <= 0 { return }
      try await Task.sleep(for: .seconds(left))
    }
  }

  /// Ends what is under way, politely, and stops to listen.
  package func stop() async {
    await resources.stop()
    server.stop()
  }

  /// What every answer tells the browser: keep nothing, guess no type, tell nobody the address.
  ///
  /// What the page itself may load stands in `ReviewPage`.
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
