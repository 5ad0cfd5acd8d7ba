import Arguments
import Crypto
import JSON
import SmartStore
import System

/// `attache store seal`: encrypts a plain store as a SQLCipher 4 file.
struct StoreSealCommand: Command {
  static let name = "store seal"
  static let summary = "seal a plain store as a SQLCipher 4 file with a passphrase"
  static let discussion = """
    The original store stays unchanged. A store without 80 reserved bytes per page is rebuilt, with a message; one \
    with changes in a -wal or a -journal is refused. With --plain-header the first 32 bytes stay readable, as \
    iOS requires of a store in an app group, and the salt, which is then not in the file, is printed.
    """
  static let examples = [
    Note(
      "attache store seal store.sqlite --out sealed.sqlite --passphrase-file store.key",
      "as the Mobile SDK opens it: \(SQLCipherKey.sdkIterations) KDF iterations")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("store", "the plain store", completes: .files, \.store),
      .option(
        "out", "FILE", "the sealed file, which must not exist yet", required: true,
        completes: .files, \.out),
      .flag(
        "plain-header", "leave the first 32 bytes readable; the salt is printed", \.plainHeader),
    ]
      + SealOptions.parameters(
        salt: "use this salt, 32 hexadecimal digits, instead of a new one; implies --plain-header"
      ).map { $0.within(\.seal) }
      + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var out = ""
  var plainHeader = false
  var seal = SealOptions()
  var options = Options()

  func validate() throws(UsageError) {
    try seal.validate(
      saltFix:
        "write 32 hexadecimal digits; without --salt, --plain-header makes and prints a random salt"
    )
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let isOutside = plainHeader || !seal.salt.isEmpty
    let salt = try seal.saltBytes() ?? RandomBytes.make(SQLCipherKey.saltBytes)
    let outcome = try SQLCipherFile.seal(
      context.existing(store), to: context.absolute(out),
      key: seal.key(context, header: isOutside ? .plain(salt: salt) : .sealed))
    if options.json {
      context.print(
        .object([
          "pages": JSONValue(outcome.pages), "rebuilt": .bool(outcome.wasRebuilt),
          "salt": .string(Hex.encode(outcome.salt)), "plainHeader": .bool(isOutside),
        ]))
    } else if !options.quiet {
      if outcome.wasRebuilt {
        context.note("\(store) had no space for sealing in its pages and was rebuilt")
      }
      context.print("\(out) is sealed: \(CountText.of(outcome.pages, "page"))")
      if isOutside { context.print("salt \(Hex.encode(outcome.salt))") }
    }
    return .done
  }
}
