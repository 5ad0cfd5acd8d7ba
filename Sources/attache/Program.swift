import Arguments
import JSON
import System

/// The outside world as commands see it: the environment, the directory, and where output goes.
///
/// Built once in `Main`; nothing else reads the process's surroundings.
struct Program: Sendable {
  /// The environment's variables.
  let variables: [String: String]
  /// The working directory, for names given on the command line only.
  let workingDirectory: String
  /// Whether results go to a terminal.
  let outputIsTerminal: Bool
  /// Whether messages go to a terminal that can move its cursor.
  let errorIsTerminal: Bool

  /// The process's own surroundings.
  static func current() -> Program {
    let variables = ProcessEnvironment.variables()
    return Program(
      variables: variables, workingDirectory: ProcessEnvironment.currentDirectory(),
      outputIsTerminal: ProcessEnvironment.isTerminal(1),
      errorIsTerminal: ProcessEnvironment.isTerminal(2) && variables["TERM"] != "dumb")
  }

  /// Writes to standard output.
  func print(_ text: String) { _ = ProcessEnvironment.write(1, text + "\n") }

  /// Writes bytes to standard output as they are.
  func write(_ bytes: [UInt8]) { _ = ProcessEnvironment.write(1, bytes) }

  /// Writes to standard error.
  func note(_ text: String) { _ = ProcessEnvironment.write(2, text + "\n") }

  /// Prints one JSON document, or one line of them.
  func print(_ value: JSONValue, pretty: Bool = false) {
    write(value.bytes(pretty: pretty, sortedKeys: false) + [0x0A])
  }

  /// The absolute path of a file that has to be there.
  func existing(_ path: String) throws(UsageError) -> String {
    let absolute = absolute(path)
    guard Files.exists(absolute) else {
      throw UsageError("there is no file \(path)", hint: "correct the name")
    }
    return absolute
  }

  /// `path` as an absolute one; a relative one counts from the working directory.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : workingDirectory + "/" + path
  }
}
