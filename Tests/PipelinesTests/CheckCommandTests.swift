import JSON
import System
import TestSupport
import Testing

@Suite struct CheckCommandTests {
  static let files =
    ExamplePipelinesTests.examples.map { "pipelines/" + $0 } + [
      "pipelines/samples/pipeline-example.json", "pipelines/samples/pipeline-minimal.json",
    ]

  @Test(arguments: files) func `check prints a pipeline file, and for that file the same output`(
    _ file: String
  ) async throws {
    let directory = TemporaryDirectory("check")
    let first = try await ProgramRun.blocking([
      "check", World.repository + "/" + file, "--offline-secrets",
    ])
    #expect(first.status == 0, "\(first.everything)")
    let path = directory.file("effective.json")
    try DurableFile.write(Array(first.output.utf8), to: path)
    let second = try await ProgramRun.blocking(["check", path, "--offline-secrets"])
    #expect(second.status == 0, "\(second.everything)")
    #expect(second.output == first.output)
    let lines = try await ProgramRun.blocking(["check", path, "--json", "--offline-secrets"])
    #expect(try JSONValue(parsing: lines.output) == JSONValue(parsing: first.output))
  }

  @Test func `check reports all faults at once and exits with status 4`() async throws {
    let directory = TemporaryDirectory("check")
    let path = directory.file("p.json")
    let text = #"{"format": 1, "name": "P", "platforms": ["ios"], "limits": {"memoryMiB": 1}}"#
    try DurableFile.write(Array(text.utf8), to: path)
    let run = try await ProgramRun.blocking(["check", path])
    #expect(run.status == 4)
    #expect(run.output == "")
    for part in [
      ":1:23: name: ", "needs \"org\"", "needs \"users\"", "needs \"stores\"",
      ":1:61: limits.memoryMiB: the section limits has no key ",
    ] { #expect(run.messages.contains(part), "\(part) in \(run.messages)") }
  }

  @Test func `check reads the key and the authorities, and reports their faults`() async throws {
    let directory = TemporaryDirectory("check")
    let samples = World.repository + "/pipelines/samples/"
    for name in ["contacts.userstore.json", "contacts.usersyncs.json"] {
      try Files.copy(samples + name, to: directory.file(name))
    }
    let minimal = String(decoding: try Files.read(samples + "pipeline-minimal.json"), as: UTF8.self)
      .replacing("/etc/attache/jwt.key", with: "jwt.key")
      .replacing(#""login""#, with: #""caFile": "ca.pem", "login""#)
    try DurableFile.write(Array(minimal.utf8), to: directory.file("first.json"))
    let missing = try await ProgramRun.blocking(
      ["check", directory.file("first.json")], variables: Self.variables)
    #expect(missing.status == 4, "\(missing.everything)")
    let offline = try await ProgramRun.blocking(
      ["check", directory.file("first.json"), "--offline-secrets"], variables: Self.variables)
    #expect(offline.status == 0, "\(offline.everything)")
    for name in ["jwt.key", "ca.pem"] {
      #expect(missing.messages.contains("\(directory.file(name)) is missing"))
      #expect(offline.messages.contains("\(directory.file(name)) is missing"))
    }
    try DurableFile.write(Array("junk".utf8), to: directory.file("ca.pem"))
    let both = try await ProgramRun.blocking(
      ["check", directory.file("first.json")], variables: Self.variables)
    for (name, fault) in [("ca.pem", "is not PEM"), ("jwt.key", "is missing")] {
      #expect(both.messages.contains("\(directory.file(name)) \(fault)"), "\(both.everything)")
    }
    let key = try OrgTemplate.key.get()
    try DurableFile.write(key.certificate, to: directory.file("jwt.key"))
    let wrong = try await ProgramRun.blocking(
      ["check", directory.file("first.json")], variables: Self.variables)
    #expect(wrong.status == 4)
    #expect(
      wrong.messages.contains(
        "org.login.key.file: \(directory.file("jwt.key")) holds a certificate, not"))
    #expect(wrong.messages.contains("org.caFile: \(directory.file("ca.pem")) is not PEM"))
    try DurableFile.write(Array(key.pem.utf8), to: directory.file("jwt.key"), mode: 0o644)
    try DurableFile.write(key.certificate, to: directory.file("ca.pem"))
    let open = try await ProgramRun.blocking(
      ["check", directory.file("first.json")], variables: Self.variables)
    #expect(
      open.status == 4 && open.messages.contains("other users can read"), "\(open.everything)")
    try Files.setMode(of: directory.file("jwt.key"), 0o600)
    let right = try await ProgramRun.blocking(
      ["check", directory.file("first.json")], variables: Self.variables)
    #expect(right.status == 0 && right.messages == "", "\(right.everything)")
  }

  private static let variables = [
    "ATTACHE_ORG_URL": "http://127.0.0.1:9", "ATTACHE_CLIENT_ID": "app",
  ]

  @Test(arguments: ["ATTACHE_ORG_URL", "ATTACHE_CLIENT_ID", "ATTACHE_JWT_KEY"])
  func `a variable that is not set is refused by check and run`(_ name: String) async throws {
    let world = try World()
    let message = "the environment variable \(name) is not set; export \(name)=…"
    for value in [nil, ""] {
      var variables = world.variables
      variables[name] = value
      func said(_ words: String...) async throws -> ProgramRun {
        try await ProgramRun.blocking(
          [words[0], world.pipeline.file, "--data", world.root] + words.dropFirst(),
          variables: variables)
      }
      for said in [try await said("check"), try await said("run")] {
        #expect(said.status == 4 && said.output == "", "\(said.everything)")
        #expect(said.messages.contains(message), "\(said.everything)")
      }
      let offline = try await said("check", "--offline-secrets")
      #expect(offline.status == 0 && offline.output != "", "\(offline.everything)")
      #expect(offline.messages.contains("the environment variable \(name) is not set"))
    }
    #expect(!Files.exists(world.data.path))
  }

  @Test(arguments: [
    ("ATTACHE_ORG_URL", "ftp://example.com", "is not the URL of an org"),
    ("ATTACHE_JWT_KEY", "junk", "is not PEM"),
  ])
  func `a variable whose value no run accepts is refused by check`(
    _ name: String, _ value: String, _ message: String
  ) async throws {
    let world = try World()
    for flags in [[], ["--offline-secrets"]] {
      let said = try await world.program(["check"], flags, variables: [name: value])
      #expect(said.status == 4 && said.messages.contains(message), "\(said.everything)")
      #expect(said.messages.contains("the environment variable \(name)"), "\(said.everything)")
    }
    #expect(try await world.program(["run"], variables: [name: value]).status == 4)
  }

  @Test func `credentials, files of secrets and links are checked as a run reads them`()
    async throws
  {
    let world = try World {
      $0.replacing(#"{ "env": "ATTACHE_JWT_KEY" }"#, with: #"{ "credential": "jwt" }"#)
        .replacing(#"{ "env": "ATTACHE_CLIENT_ID" }"#, with: #"{ "file": "client" }"#)
        .replacing(
          #""reconcile": {"#, with: #""prime": { "variables": { "env": "x" } }, "reconcile": {"#)
    }
    let place = try #require(Files.parent(of: world.pipeline.file))
    let client = place + "/client"
    let none = try await world.program(["check"])
    #expect(none.status == 4, "\(none.everything)")
    for part in [
      "org.login.clientId.file: \(client) is missing", "there is no $CREDENTIALS_DIRECTORY",
    ] { #expect(none.messages.contains(part), "\(none.everything)") }
    let variables = ["CREDENTIALS_DIRECTORY": place]
    try DurableFile.write(Array(OrgTemplate.clientID.utf8), to: place + "/real")
    try DurableFile.link(client, to: "real")
    try DurableFile.write(Array(try OrgTemplate.key.get().pem.utf8), to: place + "/jwt")
    for command in ["check", "run"] {
      let linked = try await world.program([command], variables: variables)
      #expect(
        linked.status == 4 && linked.messages.contains("\(client) is a link"),
        "\(linked.everything)")
    }
    try Files.remove(client)
    try Files.rename(place + "/real", to: client)
    for command in ["check", "run"] {
      let said = try await world.program([command], variables: variables)
      #expect(said.status == 0, "\(command): \(said.everything)")
    }
  }

  @Test(arguments: [("publish", 31), ("work", 28), ("inbox", 29)])
  func `check reports an access key that is neither in the file nor in the environment`(
    _ section: String, _ column: Int
  ) async throws {
    let directory = TemporaryDirectory("check")
    for (file, text) in BrokenConfiguration.good {
      let bucket = #""\#(section)": {"store": {"s3": {"region": "r", "bucket": "b"}}}, "limits""#
      let changed = text.replacing(#""limits""#, with: bucket)
      try DurableFile.write(Array(changed.utf8), to: directory.file(file.rawValue))
    }
    let file = directory.file("pipeline.json")
    let key = try OrgTemplate.key.get()
    try DurableFile.write(Array(key.pem.utf8), to: directory.file("jwt.key"))
    let both = ["AWS_ACCESS_KEY_ID": "ID", "AWS_SECRET_ACCESS_KEY": "a-secret"]
    let told = "\(file):23:\(column): \(section).store.s3: the bucket has no access key: "
    for (variables, flags, status, message) in [
      ([:], [], 4, told + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"),
      (["AWS_ACCESS_KEY_ID": "ID"], [], 4, told + "AWS_SECRET_ACCESS_KEY is not set"),
      ([:], ["--offline-secrets"], 0, "the bucket has no access key"), (both, [], 0, ""),
    ] {
      let run = try await ProgramRun.blocking(["check", file] + flags, variables: variables)
      #expect(run.status == status, "\(run.everything)")
      #expect(run.messages.contains(message) || message.isEmpty, "\(run.everything)")
      #expect(!run.everything.contains("a-secret"))
    }
    // A run refuses it in the same words, before it does anything.
    let run = try await ProgramRun.blocking(["run", file, "--data", directory.file("data")])
    #expect(run.status == 4 && run.messages.contains(told), "\(run.everything)")
  }

  @Test func `check reports that a pipeline and its file have different names`() async throws {
    let file = World.repository + "/pipelines/samples/pipeline-minimal.json"
    let run = try await ProgramRun.blocking(["check", file, "--offline-secrets"])
    #expect(run.status == 0)
    #expect(
      run.messages.contains(
        "commands use the file name, pipeline-minimal, but the data is stored in first/; "
          + #"rename the file to first.json, or write "name": "pipeline-minimal""#
      ), "\(run.messages)")
  }

  @Test(arguments: [("field", Int32(0)), ("office", 5)])
  func `a pipeline logs in as the sf command does`(alias: String, status: Int32) async throws {
    let world = try World { text in
      var text = text.replacing(
        "\"method\": \"jwt\",", with: "\"method\": \"sf\", \"alias\": \"\(alias)\",")
      for line in [
        "\"clientId\": { \"env\": \"ATTACHE_CLIENT_ID\" },",
        "\"key\": { \"env\": \"ATTACHE_JWT_KEY\" },",
      ] { text = text.replacing(line, with: "") }
      if let range = text.firstRange(of: /"users": \{[^}]*\{[^}]*\}\s*\}/) {
        text.replaceSubrange(range, with: #""users": { "list": ["attache@example.com"] }"#)
      }
      return text
    }
    let directory = try world.installSF("attache@example.com")
    let shell = "export PATH=\(directory):$PATH; exec \"$@\""
    let run = try await world.program(["run"], [], shell: shell)
    #expect(run.status == status, "\(run.everything)")
    #expect(Files.exists(try world.snapshot("attache")) == (status == 0))
    if status != 0 { #expect(run.messages.contains("no such alias")) }
  }
}
