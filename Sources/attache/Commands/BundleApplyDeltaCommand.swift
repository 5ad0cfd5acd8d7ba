import Arguments
import Bundles
import Crypto
import JSON
import SmartStore
import System

/// `attache bundle apply-delta`: applies a delta to installed stores.
struct BundleApplyDeltaCommand: Command {
  static let name = "bundle apply-delta"
  static let summary = "apply a delta to the stores of an installed bundle"
  static let discussion = """
    A store is refused, and stays as it is, if it is not the one that the delta is for, if it has changes \
    that the bundle does not include, or if its app has synced it. Sealed stores and sealed archives need the \
    passphrase. \
    `bundle verify` verifies the signature of a delta.
    """
  static let examples = [
    Note(
      "attache bundle apply-delta phone ios.delta.3-4.zip",
      "the stores below the directory, as bundle extract created them")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument(
        "store", "a store, or a directory with all stores at their paths", completes: .files,
        \.store),
      .argument("delta", "the archive", completes: .files, \.delta),
    ] + SealOptions.passphrase.map { $0.within(\.seal) }
      + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var delta = ""
  var seal = SealOptions()
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let path = try Files.resolved(context.existing(delta))
    let description = try DeltaReader.inspect(path)
    let iterations = description.to.storeSeal?.kdfIterations
    let installation = DeltaInstallation(
      path,
      key: try seal.keyIfGiven(context).map {
        try $0.with(iterations: iterations ?? $0.iterations)
      }, archiveKey: try seal.archiveKeyIfGiven(context))
    let outcomes = try installation.apply(
      to: Files.resolved(context.existing(store, orDirectory: true)), install: RandomBytes.uuid())
    if options.json {
      context.print(
        .object([
          "generation": JSONValue(description.to.generation),
          "stores": .array(outcomes.map(Self.json)),
        ]))
    } else if !options.quiet {
      for outcome in outcomes { context.print(Self.text(outcome, description.to.generation)) }
    }
    return .done
  }

  private static func text(_ outcome: DeltaInstallation.Outcome, _ generation: Int) -> String {
    guard let changes = outcome.changes else {
      return "\(outcome.path) has generation \(generation) already"
    }
    let rows = changes.values.reduce(0) { $0 + $1.rows }
    let gone = changes.values.reduce(0) { $0 + $1.gone }
    return "\(outcome.path) has generation \(generation) now: "
      + "\(CountText.of(rows, "row")) written, \(gone) removed"
  }

  private static func json(_ outcome: DeltaInstallation.Outcome) -> JSONValue {
    var object: JSONObject = [
      "path": .string(outcome.path), "applied": .bool(outcome.changes != nil),
    ]
    object["changes"] = outcome.changes.map(StoreDelta.Change.json)
    return .object(object)
  }
}
