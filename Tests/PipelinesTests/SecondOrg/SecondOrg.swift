import Foundation
import HTTP
import JSON
import System
import TestSupport

final class SecondOrg: Sendable {
  /// A test's changes of the org's data before it starts.
  typealias Change = @Sendable (inout JSONObject) -> Void

  struct Entry: Sendable {
    let method: String
    let path: String
    let status: Int
    let writes: Int
    let user: String?
  }

  static let directory = World.repository + "/Tests/ForeignOrg"
  static let versions = (58...66).map { "\($0).0" }
  /// The interpreter itself: the `python3` of a version manager is a script that looks for it.
  private static let python = Result {
    let result = try ChildProcess.run(
      "/usr/bin/env", ["python3", "-S", "-c", "import sys; print(sys.executable, end='')"],
      environment: ProcessEnvironment.variables())
    return String(decoding: result.output, as: UTF8.self)
  }
  let login: String
  private let process: RunningProcess
  private let client: HTTPClient

  static func start(
    in directory: TemporaryDirectory, seed: Int, version: String = "66.0",
    change: @escaping Change = { _ in }
  ) async throws -> SecondOrg {
    let certificate = try OrgTemplate.key.get().certificate
    return try await StoreThread(name: "second org").run { () throws in
      let file = Self.directory + "/fieldservice.json"
      guard var data = try JSONValue(parsing: Files.read(file)).object else { throw Failure.data }
      data["versions"] = JSONValue(
        Self.versions.filter { Int($0.prefix(2)) ?? 0 <= Int(version.prefix(2)) ?? 0 })
      data["apps"] = [
        "foreign-app": [
          "certificate": .string(String(decoding: certificate, as: UTF8.self)), "secret": "sesame",
          "runsAs": "night@foreign.example",
        ]
      ]
      change(&data)
      let path = directory.file("second-org.json")
      try DurableFile.write(JSONValue.object(data).bytes, to: path)
      return try SecondOrg(data: path, seed: seed)
    }
  }

  private init(data: String, seed: Int) throws {
    process = try ChildProcess.start(
      Self.python.get(), ["-S", Self.directory + "/serve.py", data, "--seed", String(seed)],
      environment: ProcessEnvironment.variables())
    // It returns all records of an object in one answer.
    var whole = HTTPClient.Configuration()
    whole.responseLimitBytes = 1 << 30
    client = try HTTPClient(whole)
    guard let line = process.readLine(),
      let login = try JSONValue(parsing: Array(line.utf8))["login"]?.string
    else { throw Failure.start }
    self.login = login
  }

  deinit {
    process.kill(SIGKILL)
    process.wait()
  }

  enum Failure: Error { case data, start, answer(String) }

  /// Sends a request that only tests send.
  private func ask(_ name: String, _ order: JSONValue? = nil) async throws -> JSONValue {
    let response = try await client.send(
      HTTPRequest(order == nil ? "GET" : "POST", login + "/foreign/" + name, body: order?.bytes))
    guard response.status == 200 else {
      throw Failure.answer(String(decoding: response.body, as: UTF8.self))
    }
    return try JSONValue(parsing: response.body)
  }

  func users() async throws -> [String: String] {
    let users = try await ask("dump")["users"]?.object ?? [:]
    return Dictionary(uniqueKeysWithValues: users.map { ($0.name, $0.value.string ?? "") })
  }

  func records(_ object: String) async throws -> [JSONObject] {
    try await ask("records", ["object": .string(object)]).array?.compactMap(\.object) ?? []
  }

  func logins() async throws -> Int { try await Int(ask("dump")["grants"]?.int ?? 0) }

  /// The faults so far, by kind.
  func mishaps() async throws -> [String: Int] {
    let told = try await ask("dump")["mishaps"]?.object ?? [:]
    return Dictionary(uniqueKeysWithValues: told.map { ($0.name, Int($0.value.int ?? 0)) })
  }

  /// Sets the faults from now on, replacing earlier ones.
  func order(_ mishaps: JSONObject...) async throws {
    _ = try await ask("mishaps", .array(mishaps.map { .object($0) }))
  }

  /// Another user's change: a new record, or an update.
  @discardableResult
  func change(_ object: String, id: String? = nil, _ values: JSONObject) async throws -> String {
    var order: JSONObject = [
      "as": "office@foreign.example", "object": .string(object), "values": .object(values),
    ]
    if let id { order["id"] = .string(id) }
    return try await ask("change", .object(order))["id"]?.string ?? ""
  }

  func delete(_ object: String, id: String) async throws {
    _ = try await ask(
      "change",
      [
        "as": "office@foreign.example", "object": .string(object), "id": .string(id),
        "delete": true,
      ])
  }

  func log() async throws -> [Entry] {
    try await ask("log").array?.map { entry in
      Entry(
        method: entry["method"]?.string ?? "", path: entry["path"]?.string ?? "",
        status: Int(entry["status"]?.int ?? 0), writes: Int(entry["did"]?.int ?? 0),
        user: entry["user"]?.string)
    } ?? []
  }

  /// What stores have and the org lacks, or the other way round, one per line.
  func differences(
    _ stores: [(syncs: String, path: String, username: String)]
  ) async throws -> [String] {
    let order = stores.map { store -> JSONValue in
      [
        "syncs": .string(store.syncs), "store": .string(store.path),
        "username": .string(store.username),
      ]
    }
    guard let lines = try await ask("differences", .array(order)).array else {
      throw Failure.answer("no list of differences")
    }
    return lines.map { $0.string ?? $0.text }
  }
}
