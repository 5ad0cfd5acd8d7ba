import Arguments

/// The options that commands which work or answer have in common.
struct Options: Sendable {
  var json = false
  var quiet = false
  var data: String?

  /// `--json` and `--quiet`.
  static var output: [Parameter<Options>] {
    [
      .flag("json", "print JSON: a document, or a line for each event with a summary last", \.json),
      .flag("quiet", short: "q", "print nothing but errors", \.quiet),
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
