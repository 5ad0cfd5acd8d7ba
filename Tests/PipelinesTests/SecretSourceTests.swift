import Foundation
import Pipelines
import System
import TestSupport
import Testing

@Suite struct SecretSourceTests {
  let directory = TemporaryDirectory("secret")

  func file(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
    let path = directory.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  func refusal(_ source: SecretSource, _ variables: [String: String] = [:]) -> String? {
    do throws(SecretError) {
      _ = try source.resolve(variables)
      return nil
    } catch { return error.description.replacingOccurrences(of: directory.path + "/", with: "") }
  }

  @Test func `each of the four forms yields its secret`() throws {
    #expect(try SecretSource.env("KEY").resolve(["KEY": "a b"]).text == "a b")
    let path = try file("key", "from file\n")
    #expect(try SecretSource.file(path).resolve([:]).text == "from file")
    let credentials = ["CREDENTIALS_DIRECTORY": directory.path]
    #expect(try SecretSource.credential("key").resolve(credentials).text == "from file")
    let command = SecretSource.command(["/bin/sh", "-c", "echo one; echo two"])
    #expect(try command.resolve([:]).text == "one")
  }

  @Test func `a world-readable file or a link is refused`() throws {
    let open = try file("open", "s3cret", mode: 0o640)
    #expect(refusal(.file(open)) == "other users can read open; chmod 600 open")
    let link = directory.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: open)
    #expect(refusal(.file(link)) == "link is a link; name the file itself")
    #expect(refusal(.file(directory.file("none")))?.contains("No such file") == true)
    #expect(refusal(.file(directory.path)) != nil)
  }

  @Test func `a missing or empty secret is refused without showing anything`() throws {
    #expect(refusal(.env("KEY")) == "the environment variable KEY is not set; export KEY=…")
    #expect(refusal(.env("KEY"), ["KEY": ""]) == "the secret is empty; write it there")
    #expect(refusal(.credential("key"))?.hasPrefix("there is no $CREDENTIALS_DIRECTORY") == true)
    #expect(
      refusal(.command(["/bin/sh", "-c", "echo s3cret; exit 3"]))
        == "/bin/sh failed with exit status 3; run it by hand to see why")
  }

  @Test(.timeLimit(.minutes(10)))
  func `a command with endless output, or that hangs, is stopped and reported`() async throws {
    let cases = [
      ("while :; do echo s3cret; done", "wrote more than 64 KiB"),
      ("while :; do echo s3cret >&2; done", "wrote more than 64 KiB"),
      ("head -c 65537 /dev/zero | tr '\\0' a", "wrote more than 64 KiB"),
      ("exec sleep 600", "did not finish within 1 second and"),
      ("exec sleep 600 >&- 2>&-", "did not finish within 1 second and"),
    ]
    for (script, words) in cases {
      let source = SecretSource.command(["/bin/sh", "-c", script])
      let error = await #expect(throws: SecretError.self) {
        try await StoreThread(name: "secret").run { () throws(SecretError) in
          try source.resolve([:], commandSeconds: words.contains("KiB") ? 60 : 1)
        }
      }
      #expect(error?.message.contains(words) == true, "\(script): \(String(describing: error))")
      #expect(error?.description.contains("s3cret") == false)
    }
  }
}
