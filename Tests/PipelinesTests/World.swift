import HTTP
import JSON
import Ledger
import LocalOrg
import Pipelines
import Rehearsal
import SQLite
import SmartStore
import System
import TestSupport

/// A test's own org, served on a free port, and the demo's pipeline for it.
final class World: Sendable {
  let directory: TemporaryDirectory
  let org: Org
  let server: OrgServer
  let pipeline: Pipeline
  private let files: String
  /// How the org is served, except certificates and keys.
  let serving: String
  /// The variables of a run.
  let variables: [String: String]
  let told = Locked<[RunEvent]>([])

  /// A world with a copy of the small org.
  ///
  /// `change` alters the text of the pipeline file before it is read.
  convenience init(
    file: String = World.repository + "/pipelines/demo.json", change: (String) -> String = { $0 },
    server options: (inout OrgServer.Options) -> Void = { _ in }
  ) throws {
    let directory = TemporaryDirectory("world")
    try OrgTemplate.small.get().copy(to: directory.file("org"))
    try self.init(directory, file: file, change: change, server: options)
  }

  init(
    _ directory: TemporaryDirectory, file: String, change: (String) -> String,
    server serve: (inout OrgServer.Options) -> Void = { _ in }
  ) throws {
    let key = try OrgTemplate.key.get()
    self.directory = directory
    org = try Org(
      directory: directory.file("org"), options: .init(clockStart: OrgTemplate.clockStart))
    var options = OrgServer.Options()
    serve(&options)
    serving = String(describing: options)
    options.apps[OrgTemplate.clientID] = key.certificate
    server = try OrgServer(org: org, options: options)
    variables = [
      "ATTACHE_ORG_URL": server.url, "ATTACHE_CLIENT_ID": OrgTemplate.clientID,
      "ATTACHE_JWT_KEY": key.pem,
    ]
    // The files that it names are next to it.
    let place = Files.parent(of: file) ?? "."
    let copy = directory.file("pipelines")
    if !Files.exists(copy) { try Tree.copy(place, to: copy) }
    let path = copy + "/" + Files.name(of: file)
    let text = change(String(decoding: try Files.read(path), as: UTF8.self))
    try DurableFile.write(Array(text.utf8), to: path)
    pipeline = try PipelineFile.read(path: path, variables: variables)
    files = try FirstRun.digest(files: copy)
  }

  deinit { server.stop() }

  /// An org that cannot be used, and expects the request again without a pause.
  static let unavailable = ServerResponse(
    status: 503, headers: ["Content-Type": "text/html", "Retry-After": "0"],
    body: Array("<html>Soon</html>".utf8))

  /// The latest verdicts of all edits in the ledger, in order of arrival; `none` before the first.
  func editVerdicts() throws -> [String] {
    try LedgerDatabase(path: data.state).connection.texts(
      "SELECT coalesce(verdict, 'none') FROM edit ORDER BY id")
  }

  /// The org answers nothing any more.
  func goAway() { server.faults.add(.any, times: .max, .respond(Self.unavailable)) }

  /// The directory of the sources.
  static let repository = PipelineSchemaTests.root.path
  var root: String { directory.file("snapshots") }
  var data: DataDirectory { DataDirectory(root: root, name: pipeline.name) }

  @discardableResult func run(
    _ stages: Stage..., options change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    var options = RunOptions()
    if !stages.isEmpty { options.stages = Set(stages) }
    change(&options)
    return try await execute(pipeline, options, files: files)
  }

  /// Executes a run of a pipeline that was read from files with this digest.
  ///
  /// A first run without further options is copied from an equal world that has run before. No run
  /// pauses before it repeats a request.
  func execute(
    _ pipeline: Pipeline, _ options: RunOptions, files: String
  ) async throws -> RunSummary {
    func run() async throws -> RunSummary {
      var used = options
      used.retryPause = .none
      return try await PipelineRun.execute(
        pipeline, root: root, variables: variables, options: used,
        report: { [told] event in told.withLock { $0.append(event) } })
    }
    guard let key = try FirstRun.key(self, options, pipelines: files) else {
      return try await run()
    }
    return try await FirstRun.run(key, in: self, run)
  }

  var skipped: [String] {
    told.withLock { $0 }.compactMap {
      if case .snapshotSkipped(_, let username, let reason) = $0 {
        "\(username): \(reason)"
      } else {
        nil
      }
    }
  }

  // MARK: users

  func user(_ name: String) throws -> OrgUser {
    guard let user = org.user(named: name + "@example.com") else {
      throw RehearsalError.noUser(name)
    }
    return user
  }

  func snapshot(_ name: String) throws -> String { data.snapshot(try user(name).id) }

  func bundle(_ name: String, _ platform: Platform = .ios) throws -> String {
    let id = try user(name).id
    let newest = try data.generations(of: id).last ?? 0
    let directory = data.generation(newest, of: id)
    guard let last = try BundleName.list(in: directory, platform).last?.text else {
      throw RehearsalError.noStamp(directory)
    }
    return directory + "/" + last
  }

  /// A phone with the newest bundle of a technician.
  func device(_ name: String, _ platform: Platform = .ios, as place: String? = nil) throws -> Device
  {
    try Device.install(
      bundle(name, platform), platform, into: directory.file("devices/\(place ?? name)"),
      now: org.now())
  }

  static func primed() async throws -> World {
    let world = try World()
    try await world.run()
    return world
  }

  /// A technician's phone after a run of all stages.
  func primed(_ name: String, _ platform: Platform = .ios, as place: String? = nil) async throws
    -> Device
  {
    try await run()
    return try device(name, platform, as: place)
  }

  /// The same, and the ID of the first record of a soup on it.
  func primed(
    _ name: String, _ platform: Platform = .ios, as place: String? = nil, first soup: String
  ) async throws -> (Device, String) {
    let device = try await primed(name, platform, as: place)
    guard let id = try ids(soup, on: device).first else { throw RehearsalError.noStamp(soup) }
    return (device, id)
  }

  func handBack(_ device: Device, as name: String) throws {
    try device.handBack(to: data.inbox("inbox") + "/" + name, now: org.now() + 3_600_000)
  }

  /// Changes fields of a record on a phone, and puts the phone's store into the inbox.
  func handBack(
    _ device: Device, as name: String, edited id: String, _ fields: JSONObject,
    in soup: String = "accounts"
  ) throws {
    try device.edit(soup, id: id, fields, now: org.now())
    try handBack(device, as: name)
  }

  /// Puts a phone's store into the inbox and runs stages, by default all.
  @discardableResult
  func run(_ device: Device, as name: String, _ stages: Stage...) async throws -> RunSummary {
    try handBack(device, as: name)
    return try await run { if !stages.isEmpty { $0.stages = Set(stages) } }
  }

  func verdicts(_ device: Device, as name: String, _ stages: Stage...) async throws
    -> [Verdict: Int]
  {
    try handBack(device, as: name)
    return try await run { if !stages.isEmpty { $0.stages = Set(stages) } }.verdicts
  }

  func ids(_ soup: String, on device: Device) throws -> [String] {
    try device.elements(soup).compactMap { $0["Id"]?.string }.sorted()
  }

  func record(_ object: String, _ id: String) throws -> JSONObject {
    try org.read(object, id: id, as: user("admin"))
  }

  func column(_ soql: String, _ field: String = "Id", as name: String = "admin") throws -> [String]
  {
    let page = try org.query(soql, as: user(name))
    return try JSONValue(parsing: page.records).array?.compactMap { $0[field]?.string } ?? []
  }

  func change(_ id: String, _ fields: JSONObject, of object: String = "Account") throws {
    let outcome = org.update(object, id: id, fields, as: try user("admin"))
    if let error = outcome.errors.first { throw error }
  }

  // MARK: files

  func stores() throws -> [StoreFile] { try StoreFile.all(in: data.path) }
}
