import Pipelines
import System
import TestSupport
import Testing

/// The table that `users.csv` names, as users and spreadsheets write it.
///
/// `check` reports the same as a run.
@Suite struct UserTableTests {
  let directory = TemporaryDirectory("users")
  private var table: String { directory.file("users.csv") }
  private var file: String { directory.file("first.json") }
  init() throws {
    let samples = World.repository + "/pipelines/samples/"
    for name in ["contacts.userstore.json", "contacts.usersyncs.json"] {
      try Files.copy(samples + name, to: directory.file(name))
    }
    let key = try OrgTemplate.key.get()
    try DurableFile.write(Array(key.pem.utf8), to: directory.file("jwt.key"))
    let minimal = String(decoding: try Files.read(samples + "pipeline-minimal.json"), as: UTF8.self)
      .replacing("/etc/attache/jwt.key", with: "jwt.key")
      .replacing(
        #"{ "list": ["ada@example.com"] }"#,
        with: #"{ "csv": { "file": "users.csv", "username": "Username" } }"#)
    try #require(minimal.contains("users.csv"))
    try DurableFile.write(Array(minimal.utf8), to: directory.file("first.json"))
  }

  private func check() async throws -> ProgramRun {
    try await ProgramRun.blocking(["check", file], variables: Self.variables)
  }

  private static let variables = [
    "ATTACHE_ORG_URL": "http://127.0.0.1:9", "ATTACHE_CLIENT_ID": "app",
  ]

  /// The messages of a run that never contacts its org.
  private func run() async throws -> ProgramRun {
    try await ProgramRun.blocking(
      ["run", file, "--data", directory.file("data"), "--user", "nobody@example.com"],
      variables: Self.variables)
  }

  @Test(arguments: [
    (
      "a cell in another encoding", Array("Username,N\nada@example.com,".utf8) + [0xE4, 0x0A], 2,
      "a field is not valid UTF-8", "save the table as CSV in UTF-8"
    ),
    (
      "a quote that is not closed", Array("Username\nben@example.com\n\"ada@example.com\n".utf8), 3,
      "the quote opened here is never closed", "correct the line"
    ),
    (
      "no table at all", [0xFF, 0xFE, 0x55, 0x00, 0x0A, 0x00], 1,
      "a field is not valid UTF-8", "save the table as CSV in UTF-8"
    ),
  ])
  func `a table with a fault is reported with its line by check and run`(
    _ what: String, _ bytes: [UInt8], _ line: Int, _ message: String, _ fix: String
  ) async throws {
    try DurableFile.write(bytes, to: table)
    let checked = try await check()
    #expect(checked.status == 4)
    #expect(
      checked.messages.contains("\(table):\(line):1: \(message); \(fix)"), "\(checked.everything)")
    let ran = try await run()
    #expect(ran.status == 4)
    for part in [message, "[users.csv]", "\(table):\(line)", fix] {
      #expect(ran.messages.contains(part), "\(ran.everything)")
    }
    #expect(!Files.exists(directory.file("data")))
  }

  @Test(arguments: [
    ("Name;Username\nAda;\n", 2, 5, "the row has no user name"),
    ("Username,Name\nada@example.com,Ada\n\n\"\",\"B\nC\"\n", 4, 1, "the row has no user name"),
    ("Name;Username\nada@example.com\n", 2, 1, "the row has no user name"),
    ("Username,Username\na@example.com,\n", 1, 10, "has two columns \"Username\""),
    ("Name,Username, user name\nA,a@example.com,\n", 1, 15, "has two columns \"Username\""),
    ("A,User\u{200B}name\nA,a@example.com\n", 1, 3, "that cannot be seen (U+200B)"),
    ("\u{FEFF}\u{FEFF}Username\na@example.com\n", 1, 1, "that cannot be seen (U+FEFF)"),
    ("A,Username\nB,\"a\u{AD}@example.com\"\n", 2, 3, "that cannot be seen (U+00AD)"),
    ("Username\nb@example.com\n\u{FEFF}a@example.com\n", 3, 1, "that cannot be seen (U+FEFF)"),
    ("Username\na\u{A0}b@example.com\n", 2, 1, "that cannot be seen (U+00A0)"),
  ]) func `a cell that no login can use is reported with its line and column`(
    _ text: String, _ line: Int, _ column: Int, _ message: String
  ) async throws {
    try DurableFile.write(Array(text.utf8), to: table)
    for said in [try await check(), try await run()] {
      #expect(said.status == 4, "\(said.everything)")
      for part in ["\(table):\(line):\(column)", message] {
        #expect(said.messages.contains(part), "\(said.everything)")
      }
    }
  }

  @Test func `a name of a list that has a character that cannot be seen is reported`() throws {
    let text = String(decoding: try Files.read(file), as: UTF8.self)
      .replacing(
        #"{ "csv": { "file": "users.csv", "username": "Username" } }"#,
        with: #"{ "list": ["a\u200bb@example.com"], "except": ["a\u00a0b@example.com"] }"#)
    try DurableFile.write(Array(text.utf8), to: file)
    let problems = PipelineFile.reading(path: file).problems
    #expect(problems.map(\.path) == ["users.list[0]", "users.except[0]"])
    for (problem, code) in zip(problems, ["U+200B", "U+00A0"]) {
      #expect(problem.message.contains("that cannot be seen (\(code))"))
    }
  }

  @Test func `a missing table is a problem at the key that names it`() async throws {
    let checked = try await check()
    #expect(checked.status == 4)
    #expect(
      checked.messages.contains(
        "users.csv.file: \(table): the table of users cannot be read: No such file"),
      "\(checked.everything)")
    let ran = try await run()
    #expect(ran.status == 4)
    #expect(ran.messages.contains("the table of users cannot be read: No such file"))
    #expect(ran.messages.contains(table))
  }

  @Test func `a table named by a string is a problem that shows the form`() throws {
    let text = String(decoding: try Files.read(file), as: UTF8.self)
      .replacing(#"{ "file": "users.csv", "username": "Username" }"#, with: #""users.csv""#)
    try DurableFile.write(Array(text.utf8), to: file)
    #expect(
      PipelineFile.reading(path: file).problems.first?.fix.hasPrefix(
        #"write {"file": "users.csv", "username": "Username"}"#) == true)
  }

  @Test func `a table without the column is a problem at the key that names it`() async throws {
    try DurableFile.write(Array("User\nada@example.com\n".utf8), to: table)
    let checked = try await check()
    #expect(checked.status == 4)
    #expect(
      checked.messages.contains(
        "users.csv.username: \(table): the table of users has no column \"Username\""),
      "\(checked.everything)")
    let ran = try await run()
    #expect(ran.status == 4 && ran.messages.contains("no column \"Username\""))
  }

  @Test(arguments: [
    "\u{FEFF}Name;Username\r\nAda;ada@example.com\r\nBen;ben@example.com\r\n",
    "Username;;\r\nada@example.com;;\r\n;;\r\nben@example.com;;\r\n",
    "Name\tUsername\nAda\tada@example.com\nBen\tben@example.com\n",
    "Username\n\nada@example.com\n  \n ben@example.com \n\n",
    " Username \nada@example.com\nben@example.com",
  ])
  func `a table from a spreadsheet, with blank rows, is accepted`(_ text: String) async throws {
    try DurableFile.write(Array(text.utf8), to: table)
    let checked = try await check()
    #expect(checked.status == 0, "\(checked.everything)")
    let ran = try await run()
    #expect(ran.status == 4, "\(ran.everything)")
    #expect(ran.messages.contains("nobody@example.com is not a user of the pipeline"))
    for name in ["ada@exampel.com", "ben@exampel.com"] {
      let near = try await ProgramRun.blocking(
        ["run", file, "--data", directory.file("data"), "--user", name],
        variables: Self.variables)
      let right = name.replacing("exampel", with: "example")
      #expect(near.messages.contains("did you mean \(right)?"), "\(near.everything)")
    }
  }

  @Test func `a world-writable file is refused, a group-writable one accepted`() async throws {
    try DurableFile.write(Array("Username\nada@example.com\n".utf8), to: table)
    let names = ["first.json", "contacts.userstore.json", "contacts.usersyncs.json", "users.csv"]
    for name in names {
      let path = directory.file(name)
      try Files.setMode(of: path, 0o664)
      #expect(try await check().status == 0)
      try Files.setMode(of: path, 0o646)
      for said in [try await check(), try await run()] {
        #expect(said.status == 4, "\(name): \(said.everything)")
        #expect(said.messages.contains("\(path) is world-writable"))
        #expect(said.messages.contains("chmod o-w \(path)"))
      }
      try Files.setMode(of: path, 0o644)
    }
    // A link has every permission; its target counts.
    let link = directory.file("link.json")
    try DurableFile.link(link, to: "first.json")
    let linked = try await ProgramRun.blocking(["check", link], variables: Self.variables)
    #expect(linked.status == 0, "\(linked.everything)")
  }
}
