import Arguments
import JSON
import System

/// The environment of a command: variables, working directory, and output.
///
/// Built once in `AttacheMain`; nothing else reads the process's environment.
package struct Program: CommandContext {
  /// The environment's variables.
  let variables: [String: String]
  /// The working directory, only for names on the command line.
  let workingDirectory: String
  /// Whether an operator can answer questions.
  let inputIsTerminal: Bool
  /// Whether results go to a terminal.
  let outputIsTerminal: Bool
  /// Whether messages go to a terminal with cursor movement.
  let errorIsTerminal: Bool
  /// When messages have color.
  var color = ColorChoice.auto
  /// How requests are printed: 0 not at all, 1 as one line each, 2 with status, time and size.
  var verbosity = 0
  /// The file to which each request to the org is appended.
  var debugHTTP: String?

  /// The error of the first line that could not be written.
  private let lost = Locked<SystemError?>(nil)
  /// The word that names the call's pipeline in a command.
  private let called = Locked<String?>(nil)

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
        "color", "WHEN", "use color and bold (auto: on a terminal, unless NO_COLOR is set)",
        \.color),
      .counted(
        "verbose", short: "v",
        "print a line for each request; -vv adds its status, time and size", \.verbosity),
      .option(
        "debug-http", "FILE", "append each request to FILE, one JSON line each, without secrets",
        completes: .files, \.debugHTTP),
    ]
  }

  /// Whether lines on standard output have color and bold.
  var colorsOutput: Bool { isColored(outputIsTerminal) }
  /// Whether lines on standard error have color and bold.
  var colorsErrors: Bool { isColored(errorIsTerminal) }

  private func isColored(_ isTerminal: Bool) -> Bool {
    switch color {
    case .always: true
    case .never: false
    case .auto: isTerminal && (variables["NO_COLOR"] ?? "").isEmpty && variables["TERM"] != "dumb"
    }
  }

  /// The environment of this process.
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
  /// The line may contain untrusted text. Only here, control characters and line breaks are
  /// escaped.
  func print(_ line: String) { put(1, VisibleText.line(line) + "\n") }

  /// Writes a line with its styles to standard output.
  func print(styled line: StyledLine) { put(1, line.rendered(isColored: colorsOutput) + "\n") }

  /// Writes a line with its styles to standard error.
  func note(styled line: StyledLine) { put(2, line.rendered(isColored: colorsErrors) + "\n") }

  /// Writes trusted text of several lines to standard output: a help page, the manual page.
  func write(_ text: String) { put(1, text) }

  /// Writes a CSV table to standard output.
  func write(table: [UInt8]) { put(1, VisibleText.cell(String(decoding: table, as: UTF8.self))) }

  /// Writes a line to standard error.
  func note(_ line: String) { put(2, VisibleText.line(line) + "\n") }

  /// Writes a line of JSON to standard error: a message in addition to JSON results.
  func note(_ value: JSONValue) { put(2, VisibleText.json(value.text) + "\n") }

  /// Asks a question at the terminal, and waits; nil at the end of the input.
  func ask(_ question: String) -> String? {
    put(2, VisibleText.line(question) + " ")
    guard let line = readLine() else { return nil }
    return String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// Shows a status line on the terminal, replacing the previous one.
  ///
  /// An empty line removes it.
  ///
  /// It is cut to the terminal's width, because a wrapped line could not be removed.
  func show(_ line: String) {
    let room = (ProcessEnvironment.columns(2) ?? 80) - 1
    put(2, "\r\u{1B}[K" + StatusLine.cut(VisibleText.line(line), columns: room))
  }

  /// Prints one JSON document, or one line of JSON.
  func print(_ value: JSONValue, pretty: Bool = false) {
    let bytes = value.bytes(pretty: pretty, sortedKeys: false)
    put(1, VisibleText.json(String(decoding: bytes, as: UTF8.self)) + "\n")
  }

  /// Prints the JSON document of a file.
  func print(document: [UInt8]) {
    put(1, VisibleText.json(String(decoding: document, as: UTF8.self)))
  }

  private func put(_ descriptor: Int32, _ text: String) {
    guard let error = ProcessEnvironment.write(descriptor, text) else { return }
    // The reader closed its pipe, or standard error is closed: no more output is wanted.
    if error.isReaderGone || (descriptor == 2 && error.isClosed) { return }
    lost.withLock { $0 = $0 ?? error }
  }

  /// Returns the final exit status.
  ///
  /// If output was lost, the command failed.
  func ending(_ status: ExitStatus) -> ExitStatus {
    guard let error = lost.withLock({ $0 }), status == .done || status == .needsAttention
    else {
      return status
    }
    note("attache: \(error)   [output]")
    note("  fix    free space on the output's disk, and run it again")
    return .failed
  }

  /// Returns the absolute path of an existing file.
  func existing(_ path: String, orDirectory: Bool = false) throws(UsageError) -> String {
    let absolute = absolute(path)
    guard Files.exists(absolute) else {
      throw UsageError("there is no file \(path)", hint: "correct the name")
    }
    if Files.isDirectory(absolute) {
      if orDirectory { return absolute }
      throw UsageError("\(path) is a directory", hint: "name a file")
    }
    do throws(SystemError) {
      try Files.checkInput(absolute)
    } catch {
      throw UsageError("\(path) cannot be read: \(error.reason)", hint: "name a file")
    }
    return try target(of: absolute)
  }

  /// Returns the file to which a link leads, and any other path unchanged.
  ///
  /// The companions of a store are next to the file itself.
  func target(of path: String) throws(UsageError) -> String {
    guard Files.isSymbolicLink(path) else { return path }
    let target = Files.resolvedIfThere(path)
    guard !Files.isSymbolicLink(target) else {
      throw UsageError(
        "\(path) is a link to a file that does not exist", hint: "correct the link, or remove it")
    }
    return target
  }

  /// Returns the absolute path of a directory, which need not exist yet.
  ///
  /// Throws if the path, or a path above it, is a file.
  func directory(_ path: String) throws(UsageError) -> String {
    let absolute = absolute(path)
    var place = absolute
    while !Files.exists(place), let parent = Files.parent(of: place), parent != place {
      place = parent
    }
    if Files.exists(place), !Files.isDirectory(place) {
      throw UsageError(
        "\(place == absolute ? path : place) is a file, and a directory is needed",
        hint: "name a directory, or move the file away")
    }
    return absolute
  }

  /// Notes the word that names the call's pipeline in a command (`Pipeline.called`).
  func use(pipeline word: String) { called.withLock { $0 = word } }

  /// The word that names the call's pipeline in a command; nil before its file is read.
  var calledPipeline: String? { called.withLock { $0 } }

  /// Returns an absolute path; a relative one is resolved against the working directory.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : workingDirectory + "/" + path
  }
}
