import Foundation
import JSON
import System
import TestSupport

/// The kit of `clients/java`, in a separate process: `clients/java/test/KitLine.java`.
///
/// `ATTACHE_KIT_JAVA` has the class path of the compiled kit; `make soak` sets it.
struct JavaKit: PhoneKit {
  static let classPath = ProcessEnvironment.variable("ATTACHE_KIT_JAVA")

  /// One process serves all phones.
  private final class Line: @unchecked Sendable {
    static let shared = Result { try Line() }
    // Everything else is accessed only by the one that has the turn.
    private let turn = Locked(())
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []

    private init() throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/java")
      process.arguments = [
        "-XX:+UseSerialGC", "-cp", JavaKit.classPath ?? "", "attache.kit.KitLine",
      ]
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
    }

    func ask(_ words: [JSONValue]) throws -> JSONValue {
      try turn.withLock { _ throws -> JSONValue in
        let line = Data((JSONValue.array(words).text + "\n").utf8)
        try input.fileHandleForWriting.write(contentsOf: line)
        while !pending.contains(0x0A) {
          let more = output.fileHandleForReading.availableData
          guard !more.isEmpty else { throw Violation("the Java kit has ended") }
          pending += more
        }
        let text = Array(pending.prefix { $0 != 0x0A })
        pending.removeFirst(text.count + 1)
        let answer = try JSONValue(parsing: text)
        if let error = answer["error"]?.string { throw Violation("the Java kit: \(error)") }
        return answer["value"] ?? .null
      }
    }
  }

  private let root: String

  init(root: String, _ owner: KitOwner) throws {
    self.root = root
    _ = try ask("open", .string(owner.org), .string(owner.user), .string(owner.key))
  }

  private func ask(_ verb: String, _ more: JSONValue...) throws -> JSONValue {
    try Line.shared.get().ask([.string(verb), .string(root)] + more)
  }

  func sync(bundle: String, delta: String?, now: Int64) throws -> KitOutcome {
    let word = try ask(
      "sync", .number(String(now)), .string(bundle), delta.map { .string($0) } ?? .null)
    guard let outcome = word.string.flatMap({ KitOutcome(rawValue: $0) }) else {
      throw Violation("the Java kit answers \(word.text)")
    }
    return outcome
  }

  func hasChanges() throws -> Bool { try ask("changes") == true }

  func returnStore(
    as file: String, now: Int64, isDelivered: Bool, upload: (String) throws -> Void
  ) throws {
    _ = try ask("return", .number(String(now)), .string(file))
    try upload(file)
    if isDelivered { _ = try ask("delivered") }
  }
}
