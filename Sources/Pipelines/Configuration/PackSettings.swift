import Bundles
import JSON
import SmartStore

/// How bundles are built.
package struct PackSettings: Sendable, Hashable {
  /// The conditions for building bundles.
  package enum When: String, Sendable, Hashable, CaseIterable {
    case changed
    /// In every run, which renews the expiry.
    case always
  }

  /// How a bundle is sealed.
  package struct Seal: Sendable, Hashable {
    package var method = Manifest.Seal.Method.sqlcipher
    /// The passphrase, which the app has too.
    package var passphrase: SecretSource
    /// The iterations of the key derivation of sealed stores, also of returned ones.
    package var kdfIterations = SQLCipherKey.sdkIterations
  }

  /// How manifests and the list of bundles are signed.
  package struct Sign: Sendable, Hashable {
    package var key: SecretSource
    /// What the signatures are for.
    package var namespace = SignatureFile.namespace
  }

  /// How deltas are made.
  package struct Deltas: Sendable, Hashable {
    /// The number of earlier generations from which deltas are made.
    package var from = 3
    /// The largest delta, as a share of the bundle.
    package var atMost = Percentage(40)

    package init() {}
  }

  package var format = BundleFormat.zip
  /// The compression level; nil for the format's default.
  package var level: Int?
  /// When bundles are built.
  package var when = When.changed
  /// The days after which a bundle expires.
  package var expiresAfterDays = 35
  /// How bundles are sealed; nil for plain ones.
  package var seal: Seal?
  /// How manifests are signed; nil for no signatures.
  package var sign: Sign?
  /// How deltas are made; nil for none.
  package var deltas: Deltas?

  static let keys = ["format", "level", "when", "expiresAfterDays", "seal", "sign", "deltas"]

  init() {}

  init(_ object: ConfigurationObject, in directory: String) {
    let reader = object.reader
    format = object.word("format", "a bundle format", default: format)
    level = object.optionalInt("level", in: format.levels)
    when = object.word("when", "a value of pack.when", default: when)
    expiresAfterDays = object.int("expiresAfterDays", default: expiresAfterDays, in: 1...3650)
    let sealKeys = ["with", "passphrase", "kdfIterations"]
    if let node = object.object("seal", known: sealKeys, what: "a seal") {
      let method = node.required("with", "\"sqlcipher\"").flatMap {
        reader.word($0, "a seal method", as: Manifest.Seal.Method.self)
      }
      // The key of an archive is the passphrase's own 32 bytes.
      if method == .archive, let rounds = node["kdfIterations"] {
        reader.report(
          rounds, "\"kdfIterations\" does not apply to a sealed archive", "remove it")
      }
      let passphrase = node.required("passphrase", "{\"file\": \"…\"}").flatMap {
        reader.secret($0, in: directory)
      }
      let rounds = node.int(
        "kdfIterations", default: SQLCipherKey.sdkIterations, in: SQLCipherKey.iterationRange)
      if let method, let passphrase {
        seal = Seal(method: method, passphrase: passphrase, kdfIterations: rounds)
      }
    }
    sign = Self.sign(object, in: directory)
    let deltaKeys = ["from", "atMost"]
    if let node = object.object("deltas", known: deltaKeys, what: "the section deltas") {
      var read = Deltas()
      read.from = node.int("from", default: read.from, in: 1...100)
      read.atMost = node.percentage("atMost", default: read.atMost)
      deltas = read
    }
  }

  private static func sign(_ object: ConfigurationObject, in directory: String) -> Sign? {
    let reader = object.reader
    guard
      let node = object.object("sign", known: ["key", "namespace"], what: "the section sign")
    else { return nil }
    let key = node.required("key", "{\"file\": \"…\"}").flatMap {
      reader.secret($0, in: directory)
    }
    let namespace = node.text("namespace") ?? SignatureFile.namespace
    if !SignatureFile.isNamespace(namespace), let text = node["namespace"] {
      reader.report(
        text, "\(JSONText.quoted(namespace)) is not a namespace",
        "use at most 64 letters, digits and . - _ @, or remove it")
    }
    return key.map { Sign(key: $0, namespace: namespace) }
  }

  /// The validity of a bundle in milliseconds.
  var expiryMilliseconds: Int64 { Int64(expiresAfterDays) * 24 * 60 * 60 * 1000 }

  /// Returns the expiry of a bundle made at a time, both in milliseconds.
  func expiry(from created: Int64) -> Int64 { created + expiryMilliseconds }

  var json: JSONValue {
    JSONObject.of([
      ("format", .string(format.rawValue)), ("level", level.map { JSONValue($0) }),
      ("when", .string(when.rawValue)), ("expiresAfterDays", JSONValue(expiresAfterDays)),
      (
        "seal",
        seal.map {
          JSONObject.of([
            ("with", .string($0.method.rawValue)),
            ("kdfIterations", $0.method == .archive ? nil : JSONValue($0.kdfIterations)),
            ("passphrase", $0.passphrase.json),
          ])
        }
      ),
      ("sign", sign.map { ["key": $0.key.json, "namespace": .string($0.namespace)] }),
      (
        "deltas",
        deltas.map { ["from": JSONValue($0.from), "atMost": .string("\($0.atMost)")] }
      ),
    ])
  }
}
