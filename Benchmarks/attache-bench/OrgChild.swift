import HTTP
import JSON
import LocalOrg
import System

/// Serves an org from a separate process, so that its memory and time are its own.
///
/// The local org creates the pages once. From then on, they are served as recorded, because
/// otherwise the benchmark would measure how fast the org creates pages.
struct OrgChild {
  private let options: BenchOptions
  private let workload: Workload

  init(_ options: BenchOptions) throws {
    self.options = options
    workload = try Workload(options.workload, records: options.records)
  }

  /// Records the missing pages, prints the address and the token in one line, and serves until it
  /// is killed or its parent has ended.
  func run() async throws {
    if options.isLive { return try await serveLive() }
    let recording = try Recording(workload, in: options.directory)
    if !recording.isThere { try record(recording) }
    let server = try HTTPServer(HTTPServer.Configuration()) { recording.answer($0) }
    try await serve(server.url, token: "recorded")
    server.stop()
  }

  private func serve(_ url: String, token: String) async throws {
    ProcessEnvironment.write(1, "\(url) \(token)\n")
    while Files.exists("/proc/\(options.parent)") {
      try await Task.sleep(nanoseconds: 500_000_000)
    }
  }

  private func serveLive() async throws {
    var settings = OrgServer.Options()
    settings.writesLog = false
    settings.dailyLimit = Int.max
    let server = try OrgServer(org: try seeded(), options: settings)
    try await serve(server.url, token: try server.token(for: Self.username))
    server.stop()
  }

  private static let username = OrgUser.integrationUsername
  private var orgDirectory: String { "\(options.directory)/org-\(workload.name)" }

  /// The local org; one that was not completed is recreated.
  private func seeded() throws -> LocalOrg.Org {
    let mark = orgDirectory + "/seeded"
    if Files.exists(mark) { return try LocalOrg.Org(directory: orgDirectory) }
    if Files.exists(orgDirectory) { try Files.remove(orgDirectory) }
    try Files.makeDirectory(orgDirectory, intermediate: true)
    let org = try LocalOrg.Org(directory: orgDirectory)
    try org.addUser(Self.username, lastName: "Integration", profile: "Integration")
    for part in workload.parts {
      try org.seedBulk(object: part.shape.object, count: part.records, owner: Self.username)
    }
    try Files.append([], to: mark)
    return org
  }

  private func record(_ recording: Recording) throws {
    let org = try seeded()
    guard let user = org.user(named: Self.username) else {
      throw BenchFailure("the org has no user \(Self.username)")
    }
    try recording.begin(organizationID: org.organizationID, user: user)
    for statement in recording.statements {
      var page = try org.query(statement.text, as: user, batchSize: statement.pageSize)
      guard page.totalSize == statement.records else {
        throw BenchFailure(
          "the org has \(page.totalSize) of \(statement.records) records for \(statement.text)")
      }
      var place = statement.start
      while true {
        try recording.write(page, place)
        place += page.count
        guard let locator = page.locator else { break }
        page = try org.queryMore(locator, as: user, batchSize: statement.pageSize)
      }
    }
    try recording.end()
    // Only the pages are kept; with `--live`, the org is filled again.
    try Files.remove(orgDirectory)
  }
}
