import Arguments
import JSON
import System

/// The outside world as commands see it: the environment, the directory, and where output goes.
///
/// Built once in `AttacheMain`; nothing else reads the process's surroundings.
package struct Program: CommandContext {
  /// The environment's variables.
  let variables: [String: String]
  /// The working directory, for names given on the command line only.
  let workingDirectory: String
  /// Whether somebody can answer questions.
  let inputIsTerminal: Bool
  /// Whether results go to a terminal.
  let outputIsTerminal: Bool
  /// Whether messages go to a terminal that can move its cursor.
  let errorIsTerminal: Bool
  /// When messages have colour.
  var color = ColorChoice.auto
  /// How much is said of requests: 1 for a line for each, 2 with its status, time and size.
  var verbosity = 0
  /// The file to which each request of an org is added.
  var debugHTTP: String?

  /// The first line that could not be written.
  private let lost = Locked<SystemError?>(nil)

  init(
    variables: [String: String], workingDirectory: String, inputIsTerminal: Bool,
    outputIsTerminal: Bool, errorIsTerminal: Bool
  ) {
    self.variables = variables
    self.workingDirectory = workingDirectory
    self.inputIsTerminal = inputIsTerminal
    self.outputIsTerminal = outputIsTerminal
    self.errorIsTerminal = errorIsTerminal
  }

  /// The options of every command.
  package static var globals: [Parameter<Program>] {
    [
      .option(
        "color", "WHEN", "use colour and bold (auto: on a terminal, unless NO_COLOR is set)",
        \.color),
      .counted(
        "verbose", short: "v",
        "print a line for each request; -vv adds its status, time and size", \.verbosity),
      .option(
        "debug-http", "FILE", "append each request to FILE, one JSON line each, without secrets",
        completes: .files, \.debugHTTP),
    ]
  }

  /// Whether lines on standard output have colour and bold.
  var colorsOutput: Bool { isColored(outputIsTerminal) }
  /// Whether lines on standard error have colour and bold.
  var colorsErrors: Bool { isColored(errorIsTerminal) }

  private func isColored(_ isTerminal: Bool) -> Bool {
    switch color {
    case .always: true
    case .never: false
    case .auto: isTerminal && (variables["NO_COLOR"] ?? "").isEmpty && variables["TERM"] != "dumb"
    }
  }

  /// The process's own surroundings.
  static func current() -> Program {
    let variables = ProcessEnvironment.variables()
    return Program(
      variables: variables, workingDirectory: ProcessEnvironment.currentDirectory(),
      inputIsTerminal: ProcessEnvironment.isTerminal(0),
      outputIsTerminal: ProcessEnvironment.isTerminal(1),
      errorIsTerminal: ProcessEnvironment.isTerminal(2) && variables["TERM"] != "dumb")
  }

  /// Writes a line to standard output.
  ///
  /// Names and words from outside may stand in it: here, and nowhere else, they are made fit for a
  /// terminal and for one line of a log.
  func print(_ line: String) { put(1, VisibleText.line(line) + "\n") }

  /// Writes a line with its styles to standard output.
  func print(styled line: StyledLine) { put(1, line.rendered(isColored: colorsOutput) + "\n") }

  /// Writes a line with its styles to standard error.
  func note(styled line: StyledLine) { put(2, line.rendered(isColored: colorsErrors) + "\n") }

  /// Writes our own text of many lines to standard output: help, the manual page.
  func write(_ text: String) { put(1, text) }

  /// Writes a table of values, CSV, to standard output.
  func write(table: [UInt8]) { put(1, VisibleText.cell(String(decoding: table, as: UTF8.self))) }

  /// Writes a line to standard error.
  func note(_ line: String) { put(2, VisibleText.line(line) + "\n") }

  /// Writes a line of JSON to standard error: a message beside results that are JSON.
  func note(_ value: JSONValue) { put(2, VisibleText.json(value.text) + "\n") }

  /// Asks somebody at the terminal, and waits; nil at the end of the input.
  func ask(_ question: String) -> String? {
    put(2, VisibleText.line(question) + " ")
    guard let line = readLine() else { return nil }
    return String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// Shows a line on the terminal that the next one replaces; an empty one takes it away.
  ///
  /// It is cut where the terminal's line ends: one that went on in the next could not be taken away.
  func show(_ line: String) {
    let room = (ProcessEnvironment.columns(2) ?? 80) - 1
    put(2, "\r\u{1B}[K" + StatusLine.cut(VisibleText.line(line), columns: room))
  }

  /// Prints one JSON document, or one line of them.
  func print(_ value: JSONValue, pretty: Bool = false) {
    let bytes = value.bytes(pretty: pretty, sortedKeys: false)
    put(1, VisibleText.json(String(decoding: bytes, as: UTF8.self)) + "\n")
  }

  /// Prints a JSON document that stands in a file.
  func print(document: [UInt8]) {
    put(1, VisibleText.json(String(decoding: document, as: UTF8.self)))
  }

  private func put(_ descriptor: Int32, _ text: String) {
    guard let error = ProcessEnvironment.write(descriptor, text) else { return }
    // Who has read enough of a pipe, or closed the messages, wants no more.
    if error.isReaderGone || (descriptor == 2 && error.isClosed) { return }
    lost.withLock { $0 = $0 ?? error }
  }

  /// What the program ends with: what could not be told was not done, whatever else went well.
  func ending(_ status: ExitStatus) -> ExitStatus {
    guard let error = lost.withLock({ $0 }), status == .done || status == .needsAttention
    else {
      return status
    }
    note("attache: \(error)   [output]")
    note("  fix    make room where the output goes, and ask again")
    return .failed
  }

  /// The absolute path of a file that has to be there.
  func existing(_ path: String) throws(UsageError) -> String {
    let absolute = absolute(path)
    guard Files.exists(absolute) else {
      throw UsageError("there is no file \(path)", hint: "correct the name")
    }
    if Files.isDirectory(absolute) {
      throw UsageError("\(path) is a directory", hint: "name a file")
    }
    do throws(SystemError) {
      try Files.checkInput(absolute)
    } catch {
      throw UsageError("\(path) cannot be read: \(error.reason)", hint: "name a file")
    }
    return absolute
  }

  /// `path` as an absolute one; a relative one counts from the working directory.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : workingDirectory + "/" + path
  }
}
