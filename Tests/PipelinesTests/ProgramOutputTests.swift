import JSON
import SQLite
import SmartStore
import System
import TestSupport
import Testing

@Suite struct ProgramOutputTests {
  @Test(arguments: [["manual"], ["help"], ["check", "pipelines/demo.json", "--offline-secrets"]])
  func `a full output device is exit status 1, with a message`(_ words: [String]) async throws {
    let words = words.map { $0.hasSuffix(".json") ? World.repository + "/" + $0 : $0 }
    let run = try await ProgramRun.blocking(
      words, variables: ["ATTACHE_ORG_URL": "http://localhost"], shell: #"exec "$@" >/dev/full"#)
    #expect(run.status == 1)
    #expect(run.messages.contains("cannot write the output: No space left on device"))
  }

  @Test func `a full error device is exit status 1 as soon as there is a message`() async throws {
    let world = try World()
    let run = try await world.program(
      ["run"], ["--only", "prime"], shell: #"exec "$@" 2>/dev/full"#)
    #expect(run.status == 1)
    let quiet = try await world.program(
      ["run"], ["--only", "prime", "--quiet"], shell: #"exec "$@" >/dev/full 2>/dev/full"#)
    #expect(quiet.status == 0)
  }

  @Test func `closing the output early is not an error`() async throws {
    let run = try await ProgramRun.blocking(
      ["manual"], shell: #"set -o pipefail; "$@" | head -c 1"#)
    #expect(run.status == 0)
    #expect(run.messages == "")
  }

  @Test func `closed standard streams never become descriptors of our files`() async throws {
    let world = try World()
    let ada = try await world.program(["run"], [], shell: #"exec "$@" <&- >&- 2>&-"#)
    // None of its output could be written.
    #expect([0, 1].contains(ada.status))
    let ledger = try Connection(world.data.state, mode: .readWrite)
    #expect(try ledger.texts("PRAGMA integrity_check") == ["ok"])
    for name in try Tree.files(world.data.path) {
      let bytes = try Files.read(world.data.path + "/" + name)
      #expect(!bytes.starts(with: Array("prime: ".utf8)), "\(name)")
    }
    #expect(try await world.program(["run"]).status == 0)
  }

  @Test func `control characters of file names are escaped on terminal and in JSON`() async throws {
    let world = try World()
    let name = "a\u{1B}]0;owned\u{07}\nattache: done\u{202E}\u{9B}31m.sqlite"
    let file = world.directory.file("returned")
    try Files.makeDirectory(file)
    try DurableFile.write(Array("no store".utf8), to: file + "/" + name)
    for json in [[], ["--json"]] {
      let run = try await world.program(["ingest"], [file + "/" + name] + json)
      #expect(run.status == 3 || run.status == 0, "\(run.everything)")
      let raw = run.everything.unicodeScalars.filter {
        $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E
      }
      #expect(raw.isEmpty)
      for line in run.output.split(separator: "\n") where !json.isEmpty {
        #expect(throws: Never.self) { try JSONValue(parsing: Array(line.utf8)) }
      }
      #expect(!run.everything.split(separator: "\n").contains { $0.hasPrefix("attache: done") })
      #expect(run.everything.contains(#"\u001b]0;owned\u0007"#))
    }
  }

  @Test func `values that CSV output shortens are reported`() async throws {
    let directory = TemporaryDirectory("query")
    let path = directory.file("store.sqlite")
    let store = try Store(creating: path, platform: .ios)
    try store.registerSoup("texts", indexSpecs: [IndexSpec(path: "n", type: .string)])
    let odd = #"{"n":"a\u0000b"}"#
    _ = try store.upsert([odd, #"{"n":"plain"}"#], into: "texts")
    try store.close()
    for (id, isTold) in [(1, true), (2, false)] {
      let query = "select {texts:n} from {texts} where {texts:_soupEntryId} = \(id)"
      let run = try await ProgramRun.blocking(["store", "query", path, query, "--csv"])
      #expect(run.status == 0)
      #expect(run.messages.contains("removed from the CSV") == isTold, "\(run.everything)")
    }
  }

  @Test func `a query that does not end is stopped by its time limit`() async throws {
    let directory = TemporaryDirectory("query")
    let path = directory.file("store.sqlite")
    let store = try Store(creating: path, platform: .ios)
    try store.registerSoup("numbers", indexSpecs: [IndexSpec(path: "n", type: .string)])
    _ = try store.upsert((0..<200).map { #"{"n":"\#($0)"}"# }, into: "numbers")
    try store.close()
    let tables = (0..<6).map { "{numbers} t\($0)" }.joined(separator: ", ")
    let run = try await ProgramRun.blocking(
      ["store", "query", path, "select count(*) from \(tables)", "--deadline", "1"])
    #expect(run.status == 6)
    #expect(run.messages.contains("the query was stopped after 1 second "))
    let quick = try await ProgramRun.blocking(
      ["store", "query", path, "select count(*) from {numbers}", "--csv"])
    #expect(quick.output.hasSuffix("200\n") || quick.output.hasSuffix("200\r\n"))
  }
}
