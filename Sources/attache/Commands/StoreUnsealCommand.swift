import Arguments
import JSON
import SmartStore
import System

/// `attache store unseal`: decrypts a SQLCipher 4 file to a plain store.
struct StoreUnsealCommand: Command {
  static let name = "store unseal"
  static let summary = "unseal a store to a plain file"
  static let discussion = """
    Every page is verified. If the passphrase is wrong, a page was changed or the file is truncated, the command \
    exits with status 8 and names the page, and nothing is written.
    """
  static let examples = [
    Note(
      "attache store unseal sealed.sqlite --out store.sqlite --passphrase-env STORE_KEY",
      "with the passphrase in the environment variable STORE_KEY")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("store", "the sealed store", completes: .files, \.store),
      .option(
        "out", "FILE", "the plain file, which must not exist yet", required: true,
        completes: .files, \.out),
    ]
      + SealOptions.parameters(
        salt: "for a store with a plain header: its salt, 32 hexadecimal digits, as store seal "
          + "prints it"
      ).map { $0.within(\.seal) }
      + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var out = ""
  var seal = SealOptions()
  var options = Options()

  func validate() throws(UsageError) { try seal.validate() }

  func run(_ context: Program) async throws -> ExitStatus {
    let header = try seal.saltBytes().map(SQLCipherKey.Header.plain) ?? .sealed
    let outcome = try SQLCipherFile.unseal(
      context.existing(store), to: context.absolute(out), key: seal.key(context, header: header))
    if options.json {
      context.print(.object(["pages": JSONValue(outcome.pages)]))
    } else if !options.quiet {
      context.print("\(out) is plain: \(CountText.of(outcome.pages, "page"))")
    }
    return .done
  }
}
