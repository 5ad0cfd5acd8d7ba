import Foundation
import HTTP
import JSON
import LocalOrg
import System
import Testing

@Suite struct InitCommandTests {
  let world: World
  init() throws {
    world = try World(server: { options in
      options.clients = [
        "init-app": OrgServer.Client(secret: "open sesame", username: "admin@example.com")
      ]
    })
  }

  private static let shell = #"PATH="$BIN:$PATH" exec "$@""#
  private var place: String { world.directory.file("new/pipelines") }

  private func attache(_ words: String..., variables: [String: String] = [:]) async throws
    -> ProgramRun
  {
    try await ProgramRun.blocking(
      words, variables: world.variables.merging(variables) { $1 }, shell: Self.shell)
  }

  private func initialise(
    _ name: String, _ words: [String], variables: [String: String] = [:]
  ) async throws -> ProgramRun {
    try await ProgramRun.blocking(
      ["init", name, "--in", place] + words, variables: world.variables.merging(variables) { $1 },
      shell: Self.shell)
  }

  /// Expects that both checks pass, and that a run primes a user.
  private func expectRuns(_ name: String, variables: [String: String] = [:]) async throws {
    let file = "\(place)/\(name).json"
    for words in [["check", file], ["org", "check", file], ["run", file]] {
      let run = try await ProgramRun.blocking(
        words, variables: world.variables.merging(variables) { $1 }, shell: Self.shell)
      #expect(run.status == 0, "\(words): \(run.everything)")
    }
    let status = try await attache("status", file, variables: variables)
    #expect(status.output.contains("generation 1"), "\(status.everything)")
  }

  private static let jwt = [
    "--key-env", "ATTACHE_JWT_KEY", "--user", "ada@example.com,ben@example.com",
  ]

  @Test func `init makes a pipeline from the org's objects that checks and primes`() async throws {
    let run = try await initialise(
      "visits", Self.jwt + ["--object", "Account,Contact,Site_Visit__c"])
    #expect(run.status == 0, "\(run.everything)")
    for line in ["wrote \(place)/visits.json", "next:", "ada@example.com: logged in"] {
      #expect(run.output.contains(line), "\(line) in \(run.everything)")
    }
    try await expectRuns("visits")
    let syncs =
      try JSONValue(parsing: Files.read(place + "/visits/usersyncs.json"))["syncs"]?.array ?? []
    #expect(
      syncs.compactMap { $0["syncName"]?.string } == [
        "syncDownAccount", "syncUpAccount", "syncDownContact", "syncUpContact",
        "syncDownSite_Visit__c", "syncUpSite_Visit__c",
      ])
    // The fields that a user edits, not those that the org or its data services maintain.
    let up = syncs.first { $0["syncName"] == "syncUpContact" }
    let fields = up?["options"]?["fieldlist"]?.array?.compactMap(\.string) ?? []
    #expect(fields.contains("LastName") && fields.contains("MailingStreet"), "\(fields)")
    #expect(!fields.contains { $0.hasSuffix("GeocodeAccuracy") || $0.hasSuffix("CleanStatus") })
    #expect(!fields.contains("MailingLatitude") && !fields.contains("Jigsaw"), "\(fields)")
    let pipeline = try JSONValue(parsing: Files.read(place + "/visits.json"))
    // A schema is named where it exists.
    if let schema = pipeline["$schema"]?.string {
      #expect(Files.exists(schema.hasPrefix("/") ? schema : "\(place)/\(schema)"), "\(schema)")
    }
    #expect(pipeline["keep"]?["generations"] == 3 && pipeline["notify"]?["command"] == [])
    // No file contains a secret.
    let text = String(decoding: try Files.read(place + "/visits.json"), as: UTF8.self)
    #expect(!text.contains("BEGIN") && text.contains("ATTACHE_JWT_KEY"))
  }

  @Test func `every login makes a pipeline that passes both checks and primes`() async throws {
    let objects = ["--object", "Account,Contact"]
    let token = ["TOKEN": try world.server.token(for: "ada@example.com")]
    let secret = ["SECRET": "open sesame"]
    let refresh = [
      "REFRESH": try world.server.refreshToken(for: "ada@example.com", app: OrgTemplate.clientID)
    ]
    let bin = try world.installSF("ada@example.com")
    let path = ["BIN": bin]
    let logins: [(String, [String], [String: String])] = [
      ("token", ["--token-env", "TOKEN"], token),
      ("client", ["--client-secret-env", "SECRET", "--client-id", "init-app"], secret),
      ("refresh", ["--refresh-token-env", "REFRESH"], refresh),
      ("sf", ["--target-org", "field"], path),
      ("shared", ["--token-env", "TOKEN", "--user", "ada@example.com,ben@example.com"], token),
    ]
    for (name, words, variables) in logins {
      let run = try await initialise(name, words + objects, variables: variables)
      #expect(run.status == 0, "\(name): \(run.everything)")
      try await expectRuns(name, variables: variables)
    }
  }

  @Test func `an app's own files are used byte for byte`() async throws {
    let demo = World.repository + "/pipelines/demo/"
    let run = try await initialise(
      "app", ["--from", demo + "userstore.json", demo + "usersyncs.json"] + Self.jwt)
    #expect(run.status == 0, "\(run.everything)")
    for name in ["userstore.json", "usersyncs.json"] {
      #expect(try Files.read(place + "/app/" + name) == Files.read(demo + name))
    }
    try await expectRuns("app")
  }

  @Test func `existing files are never changed`() async throws {
    let words = Self.jwt + ["--object", "Account"]
    for name in ["visits.json", "visits/userstore.json", "visits/usersyncs.json"] {
      try Files.remove(place)
      try Files.makeDirectory(place + "/visits")
      try DurableFile.write(Array("mine".utf8), to: place + "/" + name)
      let run = try await initialise("visits", words)
      #expect(run.status == 4 && run.messages.contains("\(name) already"), "\(run.everything)")
      #expect(try Files.read(place + "/" + name) == Array("mine".utf8))
      let files = try FileManager.default.subpathsOfDirectory(atPath: place).filter {
        $0.hasSuffix(".json")
      }
      #expect(files == [name])
    }
    try DurableFile.write(Array("mine".utf8), to: place + "/visits.json")
    let both = try await initialise("visits", words)
    #expect(both.messages.contains("visits/usersyncs.json, "), "\(both.everything)")
    #expect(both.messages.contains("/visits.json already exist "), "\(both.everything)")
  }

  @Test func `a failed init leaves nothing and reports the fault`() async throws {
    let broken = world.directory.file("broken.json")
    try DurableFile.write(Array(#"{"syncs": [{}]}"#.utf8), to: broken)
    let store = World.repository + "/pipelines/demo/userstore.json"
    let away = try HTTPServer { _ in World.unavailable }
    defer { away.stop() }
    let cases: [([String], Int32, String)] = [
      (Self.jwt + ["--object", "Acount"], 4, "write Account"),
      (Self.jwt + ["--object", "Account", "--org-url", away.url], 6, "org.unreachable"),
      (
        ["--key-env", "ATTACHE_JWT_KEY", "--user", "nobody@example.com", "--object", "Account"], 5,
        "nobody"
      ),
      (["--key-env", "ATTACHE_JWT_KEY", "--object", "Account"], 2, "--user USERNAME"),
      (["--object", "Account", "--user", "ada@example.com"], 2, "a login is needed"),
      (["--key-file", "/no/key", "--object", "Account"], 2, "correct --key-file"),
      (Self.jwt, 2, "--object"),
      (
        Self.jwt + ["--object", "Account", "--org-url", "http://org.example.com"], 4,
        "; nothing was written"
      ),
      (
        ["--token-env", "UNSET_TOKEN", "--object", "Account"], 2,
        "--token-env UNSET_TOKEN: the environment variable is not set"
      ),
      (Self.jwt + ["--from", store], 2, "the app's sync file is missing"),
      (Self.jwt + ["--from", store, broken], 4, "\(broken):"),
      (
        [
          "--key-env", "ATTACHE_JWT_KEY", "--object", "Account", "--users-query",
          "SELECT Id, Username FROM User",
        ], 2, "give --integration-user USERNAME"
      ),
      (
        [
          "--key-env", "ATTACHE_JWT_KEY", "--object", "Account", "--users-query",
          "SELECT Id FROM User",
        ], 2, "the user who lists users; select Id and Username in --users-query"
      ),
    ]
    for (words, status, part) in cases {
      let run = try await initialise("field", words)
      #expect(run.status == status, "\(words): \(run.everything)")
      #expect(run.messages.contains(part), "\(words): \(part) in \(run.everything)")
      let left = (try? FileManager.default.subpathsOfDirectory(atPath: place)) ?? []
      #expect(left.filter { $0.hasSuffix(".json") } == [], "\(words)")
    }
    let bare = try await ProgramRun.blocking(
      ["init", "field", "--in", place, "--target-org", "field", "--object", "Account"],
      variables: world.variables, shell: #"PATH=/nonexistent exec "$@""#)
    #expect(
      bare.status == 4 && bare.messages.hasPrefix("attache: there is no `sf` command on the PATH"),
      "\(bare.everything)")
    let wrong = try await initialise("Field Service", Self.jwt + ["--object", "Account"])
    #expect(wrong.status == 4 && wrong.messages.contains("field-service"), "\(wrong.everything)")
    let nested = try await initialise("field/service", Self.jwt + ["--object", "Account"])
    #expect(nested.status == 4 && nested.messages.contains("[init.name]"), "\(nested.everything)")
    #expect(nested.messages.contains("write \"field-service\""), "\(nested.everything)")
    #expect(!nested.messages.contains("userstore.json"), "\(nested.everything)")
  }

  @Test func `without the org, an app's files are used and init says so`() async throws {
    let demo = World.repository + "/pipelines/demo/"
    let run = try await initialise(
      "app",
      [
        "--from", demo + "userstore.json", demo + "usersyncs.json", "--org-url",
        "http://127.0.0.1:9",
      ] + Self.jwt)
    #expect(run.status == 6, "\(run.everything)")
    #expect(run.output.contains("the org was not contacted:"))
    #expect(run.output.contains("[org.unreachable]"))
    #expect(run.output.contains("attache org check \(place)/app.json"))
    #expect(try await attache("check", place + "/app.json").status == 0)
  }

  @Test func `at a terminal, init asks for missing values, again if necessary`() async throws {
    let key = world.directory.file("jwt.key")
    let answers = [
      "jtw", "jwt", key + ".pub", key, "ada", "ada@example.com", "", "Account; Contact",
      "Account, Contact",
    ]
    try DurableFile.write(
      Array((world.variables["ATTACHE_JWT_KEY"] ?? "").utf8), to: key, mode: 0o600)
    let script = #"script -qec "$(printf '%q ' "$@")" /dev/null"#
    let run = try await ProgramRun.blocking(
      ["init", "asked", "--in", place], variables: world.variables,
      shell: "printf '\(answers.joined(separator: "\\n"))\\n' | " + script)
    #expect(run.status == 0, "\(run.everything)")
    for answer in [
      "there is no login \"jtw\"; did you mean jwt?", "there is no file \(key).pub",
      "\"ada\" is not a user name", "\"Account;\" is not an API name",
    ] { #expect(run.everything.contains(answer), "\(answer) in \(run.everything)") }
    for question in [
      "the login method", "the file with the private key", "the users", "the objects",
    ] { #expect(run.everything.contains(question), "\(question) in \(run.everything)") }
    try await expectRuns("asked")
  }
}
