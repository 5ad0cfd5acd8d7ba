import LocalOrg
import System

/// Serves an org of its own process, so that its memory and its time are nobody else's.
struct OrgChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  /// Seeds what is not there, says address and token in one line, and serves until it is killed or
  /// its parent has ended.
  func run() async throws {
    let directory = "\(options.directory)/org-\(Workload.object)-\(options.records)"
    let org = try Self.seeded(directory, options.records)
    var settings = OrgServer.Options()
    settings.writesLog = false
    settings.dailyLimit = Int.max
    let server = try OrgServer(org: org, options: settings)
    let token = try server.token(for: "attache@example.com")
    ProcessEnvironment.write(1, "\(server.url) \(token)\n")
    while Files.exists("/proc/\(options.parent)") {
      try await Task.sleep(nanoseconds: 500_000_000)
    }
    server.stop()
  }

  /// The org of a directory; one that was not seeded to the end is made anew.
  private static func seeded(_ directory: String, _ records: Int) throws -> Org {
    let mark = directory + "/seeded"
    if Files.exists(mark) { return try Org(directory: directory) }
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(directory, intermediate: true)
    let org = try Org(directory: directory)
    if org.user(named: "attache@example.com") == nil {
      try org.addUser("attache@example.com", lastName: "Attache", profile: "Integration")
    }
    try org.seedBulk(object: Workload.object, count: records, owner: "attache@example.com")
    try Files.append([], to: mark)
    return org
  }
}
