import Arguments
import JSON
import Pipelines
import SmartStore
import System

/// `attache store check`: validates a SmartStore file.
struct StoreCheckCommand: Command {
  static let name = "store check"
  static let summary = "validate a SmartStore file and list its faults"
  static let discussion = """
    The file is opened read-only, as untrusted input. Each violation is printed with its table, row \
    and path, or the name of the file, never with a value. Soups that an app added are checked like the others.
    """
  static let examples = [
    Note("attache store check store.sqlite", "exit status 8 if there is a violation"),
    Note(
      "attache store check store.sqlite --config userstore.json",
      "also check for the soups and indexes of a store configuration"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("store", "the store file", completes: .files, \.store),
      .option(
        "config", "FILE", "the store configuration with the required soups", completes: .files,
        \.config),
      .option(
        "platform", "PLATFORM", "the expected platform (default: that of the file)", \.platform),
      .flag(
        "server",
        "check it as a store written by attache; without it, as one that comes back from a "
          + "device", \.server),
    ] + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var config: String?
  var platform: StorePlatform?
  var server = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let check = StoreCheck(
      origin: server ? .server : .device,
      platform: platform.flatMap { Platform(rawValue: $0.rawValue) },
      config: try config.map { file in
        let path = try context.existing(file)
        return try StoreConfig(
          json: try Files.read(path, limit: PipelineFile.limitBytes), file: path)
      })
    let path = try context.existing(store)
    let violations = try check.violations(at: path)
    if options.json {
      context.print(
        .object([
          "sound": .bool(violations.isEmpty),
          "violations": .array(violations.map { .string($0.description) }),
        ]))
    } else if !options.quiet {
      for violation in violations { context.print(violation.text(at: store)) }
      if !violations.isEmpty, try SQLCipherFile.mayBeSealed(path) {
        context.note(PipelineError.unsealing(path))
      }
      if violations.isEmpty { context.print("\(store) is a valid SmartStore") }
    }
    return violations.isEmpty ? .done : .damaged
  }
}

/// The names of platforms on the command line.
enum StorePlatform: String, CaseIterable, ArgumentValue { case ios, android }
