import Arguments
import Bundles
import JSON
import System

/// `attache bundle inspect`: shows the manifest of a bundle.
struct BundleInspectCommand: Command {
  static let name = "bundle inspect"
  static let summary = "print a bundle's manifest, or the description of a delta"
  static let examples = [Note("attache bundle inspect ios.bundle.zip", "org, user, stores, counts")]
  static var parameters: [Parameter<Self>] {
    [.argument("bundle", "the bundle or delta", completes: .files, \.bundle)]
      + Options.output.map { $0.within(\.options) }
  }

  var bundle = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let path = try Files.resolved(context.existing(bundle))
    let bytes =
      DeltaReader.isDelta(path)
      ? try DeltaReader.inspect(path).bytes : try BundleReader.inspect(path).bytes
    context.print(try JSONValue(parsing: bytes), pretty: !options.json)
    return .done
  }
}

/// `attache bundle extract`: unpacks a bundle after verifying it.
struct BundleExtractCommand: Command {
  static let name = "bundle extract"
  static let summary = "unpack a verified bundle, with the stores at their paths"
  static let discussion = """
    A bundle whose archive is sealed (pack.seal.with: "archive") needs the passphrase. Sealed stores are \
    unpacked as they are; `store unseal` opens them.
    """
  static let examples = [
    Note("attache bundle extract ios.bundle.zip out", "the stores, in the new directory out"),
    Note(
      "attache bundle extract ios.bundle.zip out --passphrase-file bundles.key",
      "the same of a sealed archive"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("bundle", "the archive", completes: .files, \.bundle),
      .argument(
        "directory", "a directory that does not exist yet", completes: .directories, \.directory),
    ] + SealOptions.passphrase.map { $0.within(\.seal) }
      + Options.output.map { $0.within(\.options) }
  }

  var bundle = ""
  var directory = ""
  var seal = SealOptions()
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let target = context.absolute(directory)
    if Files.exists(target) {
      throw UsageError(
        "\(directory) already exists", hint: "name a directory that does not exist",
        command: "attache bundle extract")
    }
    let manifest = try BundleReader.extract(
      Files.resolved(context.existing(bundle)), to: target, key: seal.archiveKeyIfGiven(context))
    let paths = manifest.stores.map { target + "/" + $0.path }
    if options.json {
      context.print(
        .object([
          "directory": .string(target), "stores": .array(paths.map { .string($0) }),
        ]))
    } else if !options.quiet {
      for path in paths { context.print(path) }
    }
    return .done
  }
}
