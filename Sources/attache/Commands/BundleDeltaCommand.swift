import Arguments
import Bundles
import JSON
import SmartStore
import System

/// `attache bundle delta`: makes the delta between two bundles.
struct BundleDeltaCommand: Command {
  static let name = "bundle delta"
  static let summary = "write the delta from one bundle to a later one of the same user"
  static let discussion = """
    A pipeline with pack.deltas writes deltas by itself, and signs them with pack.sign. Both bundles must have \
    the same user, platform, configuration and stores.
    """
  static let examples = [
    Note(
      "attache bundle delta 3/ios.bundle.zip 4/ios.bundle.zip --out ios.delta.3-4.zip",
      "the rows that differ")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("old", "the bundle that devices have", completes: .files, \.old),
      .argument("new", "the bundle that they get to", completes: .files, \.new),
      .option(
        "out", "FILE", "the delta, which must not exist yet", required: true, completes: .files,
        \.out),
    ] + SealOptions.passphrase.map { $0.within(\.seal) }
      + Options.output.map { $0.within(\.options) }
  }

  var old = ""
  var new = ""
  var out = ""
  var seal = SealOptions()
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let target = context.absolute(out)
    if Files.exists(target) {
      throw UsageError(
        "\(out) already exists", hint: "name a file that does not exist",
        command: "attache bundle delta")
    }
    let bundle = try Files.resolved(context.existing(new))
    let outcome = try DeltaWriter.write(
      fromBundle: Files.resolved(context.existing(old)), toBundle: bundle, as: target,
      key: seal.keyIfGiven(context), archiveKey: seal.archiveKeyIfGiven(context))
    guard case .written(let bytes) = outcome else {
      throw BundleError.invalid(
        "there is no delta between \(old) and \(new): their user, platform, configuration or stores "
          + "differ")
    }
    let whole = try Files.size(of: bundle)
    if options.json {
      context.print(.object(["bytes": JSONValue(bytes), "bundleBytes": JSONValue(whole)]))
    } else if !options.quiet {
      context.print("\(out) has \(bytes) bytes, \(new) has \(whole)")
    }
    return .done
  }
}
