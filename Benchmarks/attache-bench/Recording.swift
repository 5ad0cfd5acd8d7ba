import HTTP
import JSON
import LocalOrg
import Salesforce
import System

/// The local org's pages of a workload's statements, recorded in files.
///
/// A page's name is the number of records before it, including those of earlier statements.
struct Recording: Sendable {
  /// The query for one object.
  struct Statement: Sendable {
    let text: String
    let records: Int
    /// The maximum number of records in a page.
    let pageSize: Int
    /// The position of its first page.
    let start: Int
  }

  let directory: String
  let statements: [Statement]

  /// The recording of a workload, whether or not it exists.
  init(_ workload: Workload, in directory: String) throws {
    self.directory = "\(directory)/\(workload.name)"
    var start = 0
    statements = try workload.parts.map { part in
      defer { start += part.records }
      return Statement(
        text: try part.shape.statement(), records: part.records, pageSize: part.shape.pageSize,
        start: start)
    }
  }

  private static let root = "/services/data/v\(APIVersion.newestKnown)/query"
  private var statementFile: String { directory + "/statement" }
  private var texts: [UInt8] { Array(statements.map(\.text).joined(separator: "\n").utf8) }
  private var identityFile: String { directory + "/identity.json" }
  private func file(_ place: Int) -> String { "\(directory)/\(place).json" }

  /// Whether it was completed, and has these statements.
  var isThere: Bool { (try? Files.read(statementFile)) == texts }

  // MARK: recording

  /// Prepares the directory, and records whose records these are.
  func begin(organizationID: String, user: OrgUser) throws {
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(directory, intermediate: true)
    let identity: JSONValue = [
      "user_id": .string(user.id), "organization_id": .string(organizationID),
      "preferred_username": .string(user.username),
    ]
    try Files.append(identity.bytes, to: identityFile)
  }

  /// Stores the page that starts at this record.
  func write(_ page: QueryPage, _ place: Int) throws {
    let answer = page.answer { _ in "\(Self.root)/\(place + page.count)" }
    try Files.append(answer, to: file(place))
  }

  /// Marks the recording as complete.
  func end() throws { try Files.append(texts, to: statementFile) }

  // MARK: serving

  /// Answers a request from the files.
  func answer(_ request: ServerRequest) -> ServerResponse {
    switch request.path {
    case "/services/oauth2/userinfo": page(identityFile)
    case "/services/data": .json(200, #"[{"version":"\#(APIVersion.newestKnown)"}]"#)
    case Self.root:
      statements.first { $0.text == request.query("q") }.map { page(file($0.start)) } ?? refusal
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
