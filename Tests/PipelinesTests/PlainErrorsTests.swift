import SmartStore
import System
import TestSupport
import Testing

@Suite struct PlainErrorsTests {
  private let directory = TemporaryDirectory("plain-errors")

  private func attache(_ words: String...) async throws -> ProgramRun {
    try await ProgramRun.blocking(words)
  }

  private func makeStore() throws -> String {
    let path = directory.file("store.sqlite")
    let store = try Store(creating: path, platform: .ios)
    try store.registerSoup("accounts", indexSpecs: [IndexSpec(path: "Name", type: .string)])
    _ = try store.upsert([#"{"Name":"Alder","Phone":"1","Site":{"City":"x"}}"#], into: "accounts")
    try store.close()
    return path
  }

  @Test func `a file that is not a database is status 8 in every command`() async throws {
    let text = directory.file("text.sqlite")
    for count in [1, 256, 400] {
      try DurableFile.write(
        Array(String(repeating: "not a database. ", count: count).utf8), to: text)
      for (words, part) in [
        (["store", "check", text], "it is not an SQLite file"),
        (["store", "query", text, "select 1"], "is not a SmartStore: it is not an SQLite file"),
        (["store", "soups", text], "is not a SmartStore: it is not an SQLite file"),
        (["sync", "list", "--store", text], "is not a SmartStore: it is not an SQLite file"),
        (["bundle", "inspect", text], "fix    name a bundle; if it is one, copy it again"),
        (["bundle", "verify", text], "fix    name a bundle; if it is one, copy it again"),
      ] {
        let run = try await ProgramRun.blocking(words)
        #expect(run.status == 8, "\(words): \(run.everything)")
        #expect(run.everything.contains(part), "\(words): \(run.everything)")
        #expect(!run.everything.contains("unseal"), "\(words): \(run.everything)")
      }
    }
  }

  @Test func `a missing input file is status 2, a directory is called one`() async throws {
    let (store, missing) = (try makeStore(), directory.file("missing"))
    for words in [
      ["store", "check", missing], ["store", "query", missing, "select 1"],
      ["store", "check", store, "--config", missing],
      ["store", "seal", missing, directory.file("out"), "--passphrase-env", "NONE"],
      ["org", "serve", "--data", directory.file("org"), "--app", "a=\(missing)"],
      ["org", "seed", "--data", directory.file("org"), "--setup", missing],
    ] {
      let run = try await ProgramRun.blocking(words)
      #expect(run.status == 2, "\(words): \(run.everything)")
    }
    let run = try await attache("store", "check", directory.path)
    #expect(run.status == 2 && run.messages.contains("is a directory"), "\(run.everything)")
  }

  @Test func `a file here is named by ./, and must be a pipeline`() async throws {
    try DurableFile.write(Array("Id,Name\n".utf8), to: directory.file("bad.csv"))
    try DurableFile.write(Array("{}".utf8), to: directory.file("bad.json"))
    for (word, part) in [
      ("bad", "write ./bad.json"), ("bad.json", "/bad.json has "),
      ("bad.csv", "write ./bad.csv"), ("./bad.csv", "this is not a pipeline file (JSON)"),
      (".", #"there is no pipeline "." in pipelines or /etc/attache"#),
    ] {
      let run = try await ProgramRun.blocking(
        ["run", word], shell: "cd '\(directory.path)' && exec \"$@\"")
      #expect(run.status == 4 && run.messages.contains(part), "\(run.everything)")
    }
  }

  @Test func `a file named as a directory is status 2 in every command`() async throws {
    let world = try World()
    try await world.run(.prime)
    let (file, pipeline) = (directory.file("plain"), world.pipeline.file)
    try DurableFile.write([], to: file)
    for words in [
      ["org", "serve", "--data", file], ["org", "seed", "--data", file],
      ["org", "ca", "--data", file], ["org", "ca", "--data", file + "/below"],
      ["org", "serve", "--data", directory.file("org"), "--tls", file],
      ["backup", pipeline, file, "--data", world.root], ["status", pipeline, "--data", file],
      ["run", pipeline, "--data", file], ["demo", "--data", file],
    ] {
      let run = try await ProgramRun.blocking(words, variables: world.variables)
      #expect(run.status == 2, "\(words): \(run.everything)")
      #expect(run.messages.contains("\(file) is a file, and a directory is needed"))
      #expect(run.messages.contains("fix    name a directory"), "\(words): \(run.everything)")
    }
  }

  @Test func `a misspelt data directory is status 2 in every command that reads`() async throws {
    let world = try World()
    try await world.run(.prime)
    let (pipeline, missing) = (world.pipeline.file, directory.file("missing"))
    let other = directory.file("other")
    try Files.makeDirectory(other + "/notes")
    let places = [
      (missing, "there is no data directory \(missing)"),
      (other, "\(other) is not a data directory"),
      (world.data.path, "name the directory above it: --data \(world.root)"),
    ]
    for (data, part) in places {
      for words in [
        ["status", pipeline], ["decide", pipeline, "--list"], ["report", pipeline],
        ["returns", "list", pipeline], ["returns", "show", pipeline, "x"],
        ["explain", pipeline, "1"], ["prune", pipeline, "--dry-run"], ["recover", pipeline],
        ["reconcile", "undo", pipeline, "x"], ["review", pipeline],
        ["backup", pipeline, directory.file("backups")],
      ] {
        let run = try await ProgramRun.blocking(
          words + ["--data", data], variables: world.variables)
        #expect(run.status == 2, "\(words): \(run.everything)")
        #expect(run.messages.contains(part), "\(words): \(run.everything)")
      }
    }
    #expect(!Files.exists(missing))
    // Commands that work before the first run need no directory, or create it.
    let check = try await ProgramRun.blocking(
      ["org", "check", pipeline, "--data", missing], variables: world.variables)
    #expect(check.status == 0, "\(check.everything)")
    let prime = try await ProgramRun.blocking(
      ["prime", pipeline, "--data", missing], variables: world.variables)
    #expect(prime.status == 0, "\(prime.everything)")
  }

  @Test func `a soup or path that the store lacks is named with its nearest`() async throws {
    let store = try makeStore()
    for (query, part) in [
      ("select {acounts:Name} from {acounts}", #"did you mean "accounts"? soups: accounts"#),
      ("select {accounts:Nme} from {accounts}", #"did you mean "Name"?"#),
      ("select {accounts:Phne} from {accounts}", #"did you mean "Phone"?"#),
    ] {
      let run = try await attache("store", "query", store, query)
      #expect(run.status == 2 && run.messages.contains(part), "\(query): \(run.everything)")
    }
    for query in [
      "select {accounts:Name}, {accounts:Site.City}, {accounts:_soupEntryId} from {accounts}",
      "select '{nothing:here}' from {accounts}",
    ] {
      let run = try await attache("store", "query", store, query)
      #expect(run.status == 0, "\(query): \(run.everything)")
    }
  }

  @Test func `a port in use is reported as such`() async throws {
    let world = try World()
    let port = String(world.server.url.split(separator: ":").last ?? "")
    let run = try await attache("org", "serve", "--data", directory.file("org"), "--port", port)
    #expect(run.status == 1, "\(run.everything)")
    #expect(run.messages.contains("port \(port) of 127.0.0.1 is in use by another program"))
  }

  @Test func `a hint proposes no other user, and no option with three dashes`() async throws {
    let world = try World()
    try await world.run(.prime)
    for (name, hint) in [
      ("eda@example.com", nil), ("ada@exampel.com", "did you mean ada@example.com?"),
    ] as [(String, String?)] {
      let run = try await world.program(["run"], ["--only", "prime", "--user", name])
      #expect(run.status == 4, "\(run.everything)")
      #expect(run.messages.contains("did you mean") == (hint != nil), "\(run.everything)")
      if let hint { #expect(run.messages.contains(hint)) }
    }
    let dashes = try await world.program(["run"], ["---user"])
    #expect(dashes.status == 2 && dashes.messages.contains("did you mean \"--user\"?"))
    let value = try await world.program(["run"], ["--user", "---x"])
    #expect(value.status == 2 && !value.messages.contains("---x if"), "\(value.everything)")
  }

  @Test func `an upload of no bytes is called cut off`() async throws {
    let world = try World()
    try await world.run(.prime)
    let file = directory.file("ada.sqlite")
    try DurableFile.write([], to: file)
    let run = try await world.program(["ingest"], [file])
    #expect(
      run.everything.contains("ada.sqlite is empty (0 bytes); its upload may have been cut off"),
      "\(run.everything)")
  }

  @Test func `an unknown edit is status 4, and a misspelt field or header names its nearest`()
    async throws
  {
    let scene = try DecisionScene()
    _ = try await scene.conflict()
    let world = scene.world
    let file = world.pipeline.file
    for words in [["decide", file, "77", "--take", "device"], ["explain", file, "77"]] {
      let run = try await ProgramRun.blocking(
        words + ["--data", world.root], variables: world.variables)
      #expect(run.status == 4, "\(words): \(run.everything)")
    }
    let field = try await world.program(["decide"], ["1", "--set", "Phon=1"])
    #expect(field.messages.contains("did you mean Phone?"), "\(field.everything)")
    let table = directory.file("table.csv")
    try DurableFile.write(Array("number,decison\n1,device\n".utf8), to: table)
    let header = try await world.program(["decide"], ["--file", table])
    #expect(header.status == 4, "\(header.everything)")
    #expect(
      header.messages.contains(#"a column "decison" and no column "decision""#),
      "\(header.everything)")
    let list = try await world.program(["decide"], ["--list"])
    #expect(list.output.contains(#"device "device", server "office""#), "\(list.output)")
  }
}
