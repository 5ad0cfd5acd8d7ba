import HTTP
import JSON
import LocalOrg
import Salesforce
import System

/// The pages of one statement as the local org answered it, in files.
struct Recording: Sendable {
  let directory: String
  let statement: String

  private static let root = "/services/data/v\(APIVersion.newestKnown)/query"
  private var statementFile: String { directory + "/statement" }
  private var identityFile: String { directory + "/identity.json" }
  private func file(_ place: Int) -> String { "\(directory)/\(place).json" }

  /// Whether it was recorded to the end, and is of this statement.
  var isThere: Bool { (try? Files.read(statementFile)) == Array(statement.utf8) }

  // MARK: recording

  /// Makes room, and notes whose records these are.
  func begin(organizationID: String, user: OrgUser) throws {
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(directory, intermediate: true)
    let identity: JSONValue = [
      "user_id": .string(user.id), "organization_id": .string(organizationID),
      "preferred_username": .string(user.username),
    ]
    try Files.append(identity.bytes, to: identityFile)
  }

  /// Keeps the page that begins at this record.
  func write(_ page: QueryPage, _ place: Int) throws {
    let answer = page.answer { _ in "\(Self.root)/\(place + page.count)" }
    try Files.append(answer, to: file(place))
  }

  /// Says that it is whole.
  func end() throws { try Files.append(Array(statement.utf8), to: statementFile) }

  // MARK: serving

  /// Answers a request from the files.
  func answer(_ request: ServerRequest) -> ServerResponse {
    switch request.path {
    case "/services/oauth2/userinfo": page(identityFile)
    case "/services/data": .json(200, #"[{"version":"\#(APIVersion.newestKnown)"}]"#)
    case Self.root where request.query("q") == statement: page(file(0))
    case let path where path.hasPrefix(Self.root + "/"):
      if let place = Int(path.dropFirst(Self.root.count + 1)) { page(file(place)) } else { refusal }
    default: refusal
    }
  }

  private func page(_ file: String) -> ServerResponse {
    guard let bytes = try? Files.read(file) else { return refusal }
    return ServerResponse(
      status: 200, headers: ["Content-Type": "application/json;charset=UTF-8"], body: bytes)
  }

  private var refusal: ServerResponse {
    .json(404, #"[{"errorCode":"NOT_FOUND","message":"this was not recorded"}]"#)
  }
}
