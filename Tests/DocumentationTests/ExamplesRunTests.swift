import Crypto
import Foundation
import JSON
import SmartStore
import System
import TestSupport
import Testing
import attache

/// Every command line on the pages and in the help, run by a shell in a directory that has the
/// files it names.
@Suite struct ExamplesRunTests {
  /// The command lines, each once, with the text between them and their options unchanged.
  static let examples: Set<String> = {
    var lines = AttacheTool.tool.description.commands.flatMap { $0.examples.map(\.name) }
    // TutorialTests plays the lines of the tutorial.
    for page in Page.all where page.path != "docs/tutorial.md" {
      for block in page.blocks where ["", "sh", "bash", "console", "cron"].contains(block.language)
      { lines += block.text.replacing("\\\n", with: " ").split(separator: "\n").map(String.init) }
    }
    return Set(
      lines.flatMap { ShellWords.calls(of: "attache", in: $0) }.map { $0.joined(separator: " ") })
  }()

  @Test(.timeLimit(.minutes(5)))
  func `every example of the pages and of the help runs`() async throws {
    // Programs block, so they do not run on the cooperative pool.
    let ran = try await StoreThread(name: "examples").run { () throws -> Set<String> in
      let scene = try ExampleScene()
      try play(scene)
      return scene.ran
    }
    #expect(ran == Self.examples)
  }

  private func play(_ scene: ExampleScene) throws {
    try scene.run("org seed --data .org --scale 1")
    try scene.run("org seed --data .org --scale 0 --setup setup.json")
    try scene.run("org ca --data .org")
    try scene.allow(try scene.run("key make sign.key"))
    try scene.serve("org serve --data .org --app field-app=certificate.pem").stop()
    let server = try scene.serve("org serve --data .org --app field-app=app-cert.pem")
    defer { server.stop() }
    for name in ["field-service", "first"] { try scene.run("check \(name)") }
    try scene.run("check field-service --notify")
    try scene.run("org check field-service")
    try playInit(scene)
    for words in ["run first --dry-run", "run first", "report first"] { try scene.run(words) }
    try scene.run("prime field-service --user ada@example.com")
    try scene.run("pack field-service")
    try scene.run("run field-service")
    try scene.run("run field-service --until orders")
    try scene.run("work field-service --shard 0/4")
    // No engine gives the index.
    try scene.run("work field-service --shard auto/4", status: 2)
    try scene.run("run field-service --from collect")
    for words in ["publish field-service --dry-run", "publish field-service"] {
      try scene.run(words)
    }
    // The files of a directory have no addresses.
    try scene.run("publish url field-service ada@example.com", status: 4)
    try scene.keepBundle()
    try scene.run("bundle inspect ios.bundle.zip")
    try scene.run("bundle verify ios.bundle.zip")
    try scene.run("bundle verify ios.bundle.zip --allowed-signers allowed_signers")
    try scene.run("bundle extract ios.bundle.zip out")
    try scene.run(
      "bundle extract ios.bundle.zip out --passphrase-file bundles.key",
      as: "bundle extract ios.bundle.zip opened --passphrase-file bundles.key")
    try scene.run("ingest field-service")
    try scene.run("ingest field-service ada.sqlite")
    try scene.run("reconcile field-service --dry-run")
    try scene.run(
      "run /etc/attache/field-service.json --json",
      as: "run \(scene.directory.file("pipelines/field-service.json")) --json")
    for words in ["status field-service", "status --all", "list"] { try scene.run(words) }
    try scene.run("report field-service")
    try scene.run("report field-service --user ada --format csv")
    try playReturns(scene)
    try playDecisions(scene)
    try scene.keepGenerations()
    try scene.run("bundle delta 3/ios.bundle.zip 4/ios.bundle.zip --out ios.delta.3-4.zip")
    try scene.run("bundle extract ios.bundle.zip out", as: "bundle extract 3/ios.bundle.zip phone")
    try scene.run("bundle apply-delta phone ios.delta.3-4.zip")
    try playStores(scene)
    try playRecovery(scene)
    try scene.run("run field-service --json")
    for words in ["demo", "completion bash", "manual", "help completion"] { try scene.run(words) }
  }

  /// Recovers a lost ledger and a whole machine, and reports data that no one can see.
  private func playRecovery(_ scene: ExampleScene) throws {
    let backups = scene.directory.file("backups")
    try scene.run("backup field-service /mnt/backups", as: "backup field-service \(backups)")
    try scene.run("backup field-service -")
    try scene.run("recover field-service --restored")
    try scene.run("recover field-service --new-org")
    let data = scene.directory.file("snapshots/field-service")
    for ending in ["", "-wal", "-shm"] { try Files.remove(data + "/state.sqlite" + ending) }
    try scene.run("recover field-service")
    try Files.remove(data)
    let file = try #require(try Files.list(backups).first)
    try scene.run(
      "recover field-service --from /mnt/backups/field-service-20260131T050000Z.backup.tar.zst",
      as: "recover field-service --from \(backups)/\(file)")
  }

  private func playInit(_ scene: ExampleScene) throws {
    let address = "https://example.my.salesforce.com"
    let objects =
      "init visits --object Account,Contact --user ada@example.com --key-file jwt.key --client-id APP "
      + "--org-url \(address)"
    try scene.run(
      objects, as: objects.replacing(address, with: scene.url).replacing("APP", with: "field-app"))
    try scene.run("init app --from userstore.json usersyncs.json --target-org field")
  }

  /// Removes old data, shows returns; a file that is not a store is refused twice, and discarded.
  private func playReturns(_ scene: ExampleScene) throws {
    for words in [
      "prune field-service --dry-run", "prune field-service", "status field-service --disk",
      "returns list field-service", "returns show field-service ada.sqlite",
    ] { try scene.run(words) }
    try DurableFile.write(Array("no store".utf8), to: scene.directory.file("holiday.jpg"))
    try scene.run(
      "ingest field-service ada.sqlite", as: "ingest field-service holiday.jpg", status: 3)
    try scene.run(
      "returns release field-service ada.sqlite", as: "returns release field-service holiday.jpg")
    try scene.run("ingest field-service", as: "ingest field-service", status: 3)
    try scene.run("returns discard field-service holiday.jpg")
  }

  /// Each decision about a conflict replaces the previous one; the last one is applied.
  private func playDecisions(_ scene: ExampleScene) throws {
    try scene.collide()
    for words in [
      "explain field-service 37", "explain field-service 001xx000003DGb2AAG",
    ] { try scene.run(words, as: "explain field-service 1") }
    for words in [
      "decide field-service --list", "decide field-service --verdict conflict --take server",
      "decide field-service --file conflicts.csv --dry-run",
      "decide field-service --file conflicts.csv",
    ] { try scene.run(words) }
    for words in [
      "decide field-service 12 --take device", "decide field-service 12 13 --take server",
      "decide field-service 12 --set Phone=+15550100",
      "decide field-service 12 --take server --set Phone=+15550100",
      "decide field-service 15 --retry", "decide field-service 12 --take device --now",
    ] {
      let numbers = words.split(separator: " ").filter { Int($0) != nil }.joined(separator: " ")
      try scene.run(words, as: words.replacing(numbers, with: "1"))
    }
    try playUndo(scene)
    for example in ["review field-service", "review field-service --port 8417 --by grace"] {
      try scene.review(example)
    }
    // The other pipeline has no edits.
    try scene.run("decide first --list")
  }

  /// The writes of the last decision are undone; each plan is the same.
  private func playUndo(_ scene: ExampleScene) throws {
    let (name, confirm) = ("20260131T020000Z-12", "8c1f0e6bd02a77d4")
    let run = try scene.lastRun()
    let plan = "reconcile undo field-service \(name)"
    let text = try scene.run(plan, as: plan.replacing(name, with: run), status: 3)
    try scene.run(plan + " 37 38", as: plan.replacing(name, with: run) + " 1", status: 3)
    let digest = try #require(text.split(separator: "--confirm ").last?.prefix(16))
    let command = "reconcile undo field-service \(name) --confirm \(confirm)"
    try scene.run(command, as: command.replacing(name, with: run).replacing(confirm, with: digest))
  }

  private func playStores(_ scene: ExampleScene) throws {
    let address = "https://example.my.salesforce.com"
    let new =
      "sync run --store new.sqlite --platform ios --store-config userstore.json "
      + "--config usersyncs.json --all --username ada@example.com --key-file jwt.key "
      + "--client-id APP --org-url \(address)"
    try scene.run(
      new, as: new.replacing(address, with: scene.url).replacing("APP", with: "field-app"))
    try Files.copy(scene.directory.file("new.sqlite"), to: scene.directory.file("store.sqlite"))
    try scene.run("sync run --store store.sqlite --config usersyncs.json --all --target-org field")
    let token =
      "sync run --store store.sqlite --name contactsUp,contactsDown --token-env TOKEN "
      + "--org-url \(address)"
    try scene.run(token, as: token.replacing(address, with: scene.url))
    for words in [
      "sync list --store store.sqlite", "sync status --store store.sqlite --name contactsDown",
      "sync status --store store.sqlite --id 2 --json", "store check store.sqlite",
      "store soups store.sqlite", "store check store.sqlite --config userstore.json",
    ] { try scene.run(words) }
    try scene.run(
      "store query store.sqlite select {accounts:Name} from {accounts}",
      as: "store query store.sqlite 'select {accounts:Name} from {accounts}'")
    try scene.run("store seal store.sqlite --out sealed.sqlite --passphrase-file store.key")
    try Files.remove(scene.directory.file("store.sqlite"))
    try scene.run("store unseal sealed.sqlite --out store.sqlite --passphrase-env STORE_KEY")
    try scene.run("sync delete --store store.sqlite --name contactsDown")
  }
}

/// A directory with the files, the environment and the `sf` command that the examples use.
final class ExampleScene {
  let directory = TemporaryDirectory("examples")
  private(set) var url = ""
  private(set) var ran: Set<String> = []
  private let key: String
  init() throws {
    let made = try PrivateKey.generateRSA()
    key = String(decoding: made.pem, as: UTF8.self)
    let certificate = try made.selfSignedCertificate(
      commonName: "field-app", days: 1, dnsNames: [], ipAddresses: [])
    func write(_ name: String, _ bytes: [UInt8]) throws {
      try DurableFile.write(bytes, to: directory.file(name))
    }
    for name in ["certificate.pem", "app-cert.pem"] { try write(name, certificate) }
    try write("jwt.key", Array(key.utf8))
    for name in ["store.key", "bundles.key"] { try write(name, Array("c3RvcmU=".utf8)) }
    try write("setup.json", Array(#"{"profiles": []}"#.utf8))
    let pipelines = Page.root.appending(path: "pipelines").path
    try FileManager.default.copyItem(atPath: pipelines, toPath: directory.file("pipelines"))
    let demo = try Files.read(pipelines + "/demo.json", limit: 1 << 20)
    try write(
      "pipelines/field-service.json",
      Array(
        String(decoding: demo, as: UTF8.self).replacing("\"demo\"", with: "\"field-service\"")
          .replacing("\"pack\"", with: #""notify": { "command": ["/bin/true"] }, "pack""#)
          .replacing(
            "\"inbox\"",
            with: #""publish": {"store": {"directory": "../published"}}, "#
              + #""work": {"store": {"directory": "../work"}, "ordersOf": 1}, "inbox""#
          )
          .replacing("\"tar.zst\"", with: #""zip", "sign": { "key": { "file": "../sign.key" } }"#)
          .utf8))
    try write("userstore.json", Files.read(pipelines + "/demo/userstore.json", limit: 1 << 20))
    let syncs = """
      {"syncs": [
        {"syncName": "contactsDown", "syncType": "syncDown", "soupName": "contacts",
         "target": {"type": "soql", "query": "SELECT Id, LastName FROM Contact"},
         "options": {"mergeMode": "OVERWRITE"}},
        {"syncName": "contactsUp", "syncType": "syncUp", "soupName": "contacts", "target": {},
         "options": {"fieldlist": ["LastName"], "mergeMode": "OVERWRITE"}}
      ]}
      """
    try write("usersyncs.json", Array(syncs.utf8))
  }

  private static let program =
    (Files.parent(of: ProcessEnvironment.executablePath()) ?? ".") + "/attache"

  private var environment: [String: String] {
    var environment = [
      "ATTACHE_ORG_URL": url, "ATTACHE_CLIENT_ID": "field-app", "ATTACHE_JWT_KEY": key,
      "STORE_KEY": "c3RvcmU=", "TOKEN": token,
    ]
    for name in ["HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    environment["PATH"] =
      directory.file("bin") + ":" + (ProcessEnvironment.variable("PATH") ?? "/usr/bin:/bin")
    return environment
  }
  private var token = ""

  @discardableResult
  func run(_ example: String, as words: String? = nil, status: Int32 = 0) throws -> String {
    ran.insert(example)
    let result = try ChildProcess.run(
      "/bin/bash", ["-c", "cd '\(directory.path)' && exec '\(Self.program)' \(words ?? example)"],
      environment: environment, deadlineSeconds: 120)
    let text = String(decoding: result.output + result.error, as: UTF8.self)
    #expect(result.status == status, "attache \(words ?? example): \(text)")
    return text
  }

  struct Server {
    let process: RunningProcess
    func stop() {
      process.terminate()
      _ = process.wait()
    }
  }

  /// Serves the org as in an example; its address is the first line.
  func serve(_ example: String) throws -> Server {
    ran.insert(example)
    let process = try ChildProcess.start(
      "/bin/bash", ["-c", "cd '\(directory.path)' && exec '\(Self.program)' \(example)"],
      environment: environment, error: .discarded)
    url = process.readLine() ?? ""
    #expect(url.hasPrefix("http://127.0.0.1:"), "attache \(example): \(url)")
    try logIn()
    return Server(process: process)
  }

  /// Serves the review page as in an example, and ends it; a used port is replaced by another one.
  func review(_ example: String) throws {
    ran.insert(example)
    let words = example.replacing("--port 8417", with: "--port 0")
    let process = try ChildProcess.start(
      "/bin/bash", ["-c", "cd '\(directory.path)' && exec '\(Self.program)' \(words)"],
      environment: environment, error: .discarded)
    let address = process.readLine() ?? ""
    #expect(address.hasPrefix("http://127.0.0.1:"), "attache \(example): \(address)")
    #expect(address.contains("/?token="))
    process.terminate()
    #expect(process.wait() == 0)
  }

  /// Provides a token of Ada, and an `sf` command that knows it as `field`.
  private func logIn() throws {
    let script = """
      #!/bin/sh
      echo '{"status":0,"result":{"accessToken":"\(try accessToken())","instanceUrl":"\(url)"}}'
      """
    try Files.makeDirectory(directory.file("bin"))
    try DurableFile.write(Array(script.utf8), to: directory.file("bin/sf"), mode: 0o700)
  }

  private func accessToken() throws -> String {
    let claims: JSONValue = [
      "iss": "field-app", "sub": "ada@example.com", "aud": .string(url),
      "exp": JSONValue(Clock.wallMilliseconds() / 1000 + 180),
    ]
    let header: JSONValue = ["alg": "RS256"]
    let text = Base64.encodeURL(header.bytes) + "." + Base64.encodeURL(claims.bytes)
    let signature = try PrivateKey(pem: Array(key.utf8)).signRS256(Array(text.utf8))
    let assertion = text + "." + Base64.encodeURL(signature)
    let result = try ChildProcess.run(
      "/usr/bin/env",
      [
        "python3", "-c",
        """
        import json, sys, urllib.parse, urllib.request
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": sys.argv[2]}
        data = urllib.parse.urlencode(form).encode()
        answer = urllib.request.urlopen(sys.argv[1] + "/services/oauth2/token", data)
        print(json.load(answer)["access_token"])
        """, url, assertion,
      ], environment: environment, deadlineSeconds: 60)
    token = String(decoding: result.output, as: UTF8.self).trimmingCharacters(in: .newlines)
    #expect(!token.isEmpty, "\(String(decoding: result.error, as: UTF8.self))")
    return token
  }

  private var data: String { directory.file("snapshots/field-service") }

  func allow(_ text: String) throws {
    let line = try #require(text.split(separator: "\n").last)
    try DurableFile.write(Array("\(line)\n".utf8), to: directory.file("allowed_signers"))
  }

  /// Stores Ada's bundle with its signature, and the store in it as her phone returns it.
  func keepBundle() throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: data).sorted()
    let bundle = try #require(names.first { $0.hasSuffix("/ios.bundle.zip") })
    for ending in ["", ".sig"] {
      try Files.copy(data + "/" + bundle + ending, to: directory.file("ios.bundle.zip" + ending))
    }
    let store = try #require(
      StoreFile.all(in: data).first { $0.platform == "ios" && $0.path.contains("/users/") })
    try Files.copy(store.path, to: directory.file("ada.sqlite"))
  }

  /// Stores the bundle that Ada's phone has, and her newest one.
  func keepGenerations() throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: data).sorted()
    let bundle = try #require(names.first { $0.hasSuffix("/ios.bundle.zip") })
    let user = try #require(Files.parent(of: bundle).flatMap { Files.parent(of: $0) })
    let newest = (1...99).map { "\(data)/\(user)/\($0)/ios.bundle.zip" }.last(where: Files.exists)
    for (name, bundle) in [("3", directory.file("ios.bundle.zip")), ("4", try #require(newest))] {
      try Files.makeDirectory(directory.file(name))
      try Files.copy(bundle, to: directory.file(name + "/ios.bundle.zip"))
    }
  }

  /// Ada's phone returns an edit that conflicts with another user's, and the table of its report is
  /// filled in.
  func collide() throws {
    let store = try Store(opening: directory.file("ada.sqlite"))
    let accounts = try store.query(QuerySpec(soupName: "accounts", .all, pageSize: 1))
    let first = try #require(accounts.first)
    var account = try #require(try JSONValue(parsing: first).object)
    account["Phone"] = "+1 555 0151"
    account["__local__"] = true
    account["__locally_updated__"] = true
    _ = try store.upsert([.object(account)], into: "accounts")
    try store.close()
    try change(try #require(account["Id"]?.string), phone: "+1 555 0152")
    let run = try ChildProcess.run(
      "/bin/bash",
      [
        "-c",
        "cd '\(directory.path)' && '\(Self.program)' ingest field-service ada.sqlite "
          + "&& '\(Self.program)' reconcile field-service",
      ], environment: environment, deadlineSeconds: 120)
    #expect(run.status == 3, "\(String(decoding: run.output + run.error, as: UTF8.self))")
    let table = String(
      decoding: try Files.read(data + "/reports/\(try lastRun())/conflicts.csv"), as: UTF8.self)
    try DurableFile.write(
      Array(table.replacing(",,\r\n", with: ",device,\r\n").utf8),
      to: directory.file("conflicts.csv"))
    try DurableFile.write(Array("number,decision\n".utf8), to: directory.file("none.csv"))
  }

  private func change(_ id: String, phone: String) throws {
    let result = try ChildProcess.run(
      "/usr/bin/env",
      [
        "python3", "-c",
        """
        import json, sys, urllib.request
        place = sys.argv[1] + "/services/data/v66.0/sobjects/Account/" + sys.argv[3]
        request = urllib.request.Request(place, json.dumps({"Phone": sys.argv[4]}).encode(), method="PATCH")
        request.add_header("Authorization", "Bearer " + sys.argv[2])
        request.add_header("Content-Type", "application/json")
        urllib.request.urlopen(request)
        """, url, token, id, phone,
      ], environment: environment, deadlineSeconds: 60)
    #expect(result.status == 0, "\(String(decoding: result.error, as: UTF8.self))")
  }

  func lastRun(of pipeline: String = "field-service") throws -> String {
    let result = try ChildProcess.run(
      Self.program, ["status", directory.file("pipelines/\(pipeline).json"), "--json"],
      environment: environment, deadlineSeconds: 60)
    let status = try JSONValue(parsing: String(decoding: result.output, as: UTF8.self))
    return try #require(status["runs"]?[0]?["run"]?.string)
  }
}
