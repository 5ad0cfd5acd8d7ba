import Foundation

@testable import AttacheKit

/// SQLCipher's own build in another process: `Tests/Kits/cipher.py`.
final class CipherDatabase: Database {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var pending = Data()

  init(_ file: URL, command: [String], key: String? = nil) throws {
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst()) + [file.path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    guard let key else { return }
    _ = try query("PRAGMA key = \(Store.quoted(key))", [])
    _ = try query("PRAGMA kdf_iter = 4000", [])
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func execute(_ sql: String, _ arguments: [String]) throws { _ = try query(sql, arguments) }

  func query(_ sql: String, _ arguments: [String]) throws -> [[String?]] {
    struct Answer: Decodable {
      let rows: [[String?]]?
      let error: String?
    }
    var line = try JSONSerialization.data(withJSONObject: [sql, arguments])
    line.append(0x0A)
    try input.fileHandleForWriting.write(contentsOf: line)
    while !pending.contains(0x0A) {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Refusal(.store, "SQLCipher has ended") }
      pending.append(more)
    }
    let end = pending.firstIndex(of: 0x0A)!
    let answer = try JSONDecoder().decode(Answer.self, from: Data(pending[..<end]))
    pending = Data(pending[(end + 1)...])
    guard let rows = answer.rows else { throw Refusal(.store, answer.error ?? "") }
    return rows
  }
}
