import System
import TestSupport
import Testing

@Suite struct NamedInputsTests {
  private let directory = TemporaryDirectory("inputs")
  init() throws {
    for (file, text) in BrokenConfiguration.good {
      var text = text
      if file == .pipeline {
        text = text.replacing(
          #""login": {"#, with: #""caFile": "ca.pem", "login": {"#
        ).replacing(
          #""users": {"list": ["ada@example.com", "ben@example.com"]}"#,
          with: #""users": {"csv": {"file": "users.csv", "username": "name"}}"#)
      }
      try DurableFile.write(Array(text.utf8), to: directory.file(file.rawValue))
    }
    try DurableFile.write(Array("name\nada@example.com\n".utf8), to: directory.file("users.csv"))
  }

  /// The file kinds, and the commands that name them; `@` is the directory.
  private static let inputs: [(String, [String])] = [
    ("pipeline.json", ["check", "@/pipeline.json"]), ("store.json", ["check", "@/pipeline.json"]),
    ("store.json", ["status", "@/pipeline.json"]),
    ("store.json", ["run", "@/pipeline.json", "--deadline", "5"]),
    ("syncs.json", ["check", "@/pipeline.json"]), ("jwt.key", ["check", "@/pipeline.json"]),
    ("ca.pem", ["check", "@/pipeline.json"]), ("users.csv", ["check", "@/pipeline.json"]),
    ("users.csv", ["run", "@/pipeline.json", "--deadline", "5"]),
    ("list.csv", ["decide", "@/pipeline.json", "--file", "@/list.csv"]),
    ("b.tar.zst", ["recover", "@/pipeline.json", "--from", "@/b.tar.zst"]),
    ("a.db", ["store", "check", "@/a.db"]), ("a.db", ["store", "soups", "@/a.db"]),
    ("a.db", ["store", "query", "@/a.db", "SELECT 1"]),
    ("a.db", ["sync", "list", "--store", "@/a.db"]),
    ("b.zip", ["bundle", "inspect", "@/b.zip"]), ("b.zip", ["bundle", "verify", "@/b.zip"]),
    ("setup.json", ["org", "seed", "--data", "@/org", "--setup", "@/setup.json"]),
    ("app.pem", ["org", "serve", "--data", "@/org", "--app", "a=@/app.pem"]),
  ]

  @Test(arguments: inputs.indices, ["pipe", "device"])
  func `a pipe or device named as file is refused by kind`(index: Int, kind: String) async throws {
    let (name, words) = Self.inputs[index]
    let path = directory.file(name)
    try Files.remove(path)
    if kind == "pipe" {
      #expect(try ChildProcess.run("/usr/bin/mkfifo", [path]).status == 0)
    } else {
      try DurableFile.link(path, to: "/dev/zero")
    }
    let run = try await ProgramRun.blocking(
      words.map { $0.replacing("@", with: directory.path) }, deadlineSeconds: 30)
    #expect(run.status != 0)
    #expect(run.everything.contains("a pipe, a socket or a device"), "\(words): \(run.everything)")
  }
}
