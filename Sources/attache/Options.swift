import Arguments
import Pipelines

/// The options that commands which work or answer have in common.
struct Options: Sendable {
  var json = false
  var quiet = false
  var data: String?

  /// `--json` and `--quiet`.
  static var output: [Parameter<Options>] {
    [
      .flag("json", "print JSON: a document, or a line for each event with a summary last", \.json),
      .flag(
        "quiet", short: "q", "print nothing but errors and, in a line, what waits for a person",
        \.quiet),
    ]
  }

  /// `--data`, with `--json` and `--quiet`.
  static var pipeline: [Parameter<Options>] {
    [
      .option(
        "data", "DIR", "where snapshots are kept (else $ATTACHE_DATA, else ../snapshots)",
        completes: .directories, \.data)
    ] + output
  }
}

extension Percentage: ArgumentValue {
  /// A whole number from 0 to 100, with or without its sign.
  package init?(argument: String) {
    guard let number = Int(argument.hasSuffix("%") ? argument.dropLast() : argument[...]),
      (0...100).contains(number)
    else { return nil }
    self.init(number)
  }

  /// A percentage.
  package static var expectation: String { "a percentage, as in 10%" }
  /// As the pipeline file writes it.
  package var argumentText: String { description }
}
