import Foundation

/// The platform whose SDK made or reads a store.
public enum Platform: String, Codable, Sendable {
  case ios, android
}

/// The description of a bundle: `manifest.json`.
public struct Manifest: Codable, Equatable, Sendable {
  /// A store in the bundle.
  public struct Store: Codable, Equatable, Sendable {
    /// `user` or `global`.
    public let scope: String
    /// The path below the app's directory.
    public let path: String
    /// The SHA-256 in hexadecimal digits.
    public let sha256: String
    /// The stamp ID in the store.
    public let stampId: String
    /// The size in bytes.
    public let bytes: Int
  }

  /// A return whose edits are all resolved or in the bundle.
  public struct Include: Codable, Equatable, Sendable {
    /// The stamp ID of the returned stores.
    public let stampId: String
    /// The installation that made it; nil if its app marks none.
    public let install: String?
    /// The number of the latest included return of that installation.
    public let handback: Int?
  }

  /// The encryption of a bundle: of its stores, or of the archive with them.
  public struct Seal: Codable, Equatable, Sendable {
    /// The method: `sqlcipher` or `archive`.
    public let with: String
    /// The number of key derivation rounds of sealed stores.
    public let kdfIterations: Int?
    /// The size of the sealed archive in bytes.
    public let bytes: Int?
    /// The SHA-256 of the sealed archive in hexadecimal digits.
    public let sha256: String?
    /// Whether the archive is sealed, and the stores in it are plain.
    var isOfArchive: Bool { with == "archive" }
  }

  /// The number of the format: 1.
  public let format: Int
  /// The organization's 18-character ID.
  public let org: String
  /// The user's 18-character ID, or `global`.
  public let user: String
  /// The name of the pipeline.
  public let pipeline: String
  /// The stamp ID of the user's stores.
  public let stampId: String
  /// The generation, from 1.
  public let generation: Int
  /// `ios` or `android`.
  public let platform: String
  /// When the bundle was made.
  public let created: Date
  /// When the app should ask for a newer bundle.
  public let expires: Date?
  /// The encryption of the bundle; nil if it is plain.
  public let seal: Seal?
  /// The stores, in the order of the archive.
  public let stores: [Store]
  /// The returns whose edits are all resolved or in the bundle.
  public let includes: [Include]
  /// Sentences for the user: data that was missing when the stores were created.
  public let warnings: [String]
  /// The encryption of the stores; nil if they are plain, also in a sealed archive.
  var storeSeal: Seal? { seal?.isOfArchive == true ? nil : seal }
}

/// The description of a delta: `delta.json`.
struct DeltaDescription: Codable {
  struct File: Codable, Equatable {
    struct From: Codable, Equatable { let stampId: String }
    let path, file, sha256: String
    let bytes: Int
    let from: From
  }

  let format: Int
  let to: Manifest
  let stores: [File]
  let seal: Manifest.Seal?
}

/// The user whose bundles an app installs.
public struct Owner: Equatable, Sendable {
  /// The organization's 18-character ID.
  public let org: String
  /// The user's 18-character ID.
  public let user: String
  /// The name of the pipeline.
  public let pipeline: String
  /// The platform of the app.
  public let platform: Platform

  /// `org` and `user` are the 18-character IDs of the user who is logged in.
  public init(org: String, user: String, pipeline: String, platform: Platform) {
    (self.org, self.user, self.pipeline, self.platform) = (org, user, pipeline, platform)
  }

  /// Checks that a manifest is one of this user's.
  public func check(_ manifest: Manifest) throws {
    let members: [(Refusal.Code, String, String)] = [
      (.org, manifest.org, org), (.user, manifest.user, user),
      (.pipeline, manifest.pipeline, pipeline),
      (.platform, manifest.platform, platform.rawValue),
    ]
    guard manifest.format == 1 else {
      throw Refusal(.format, "format \(manifest.format) needs a newer app")
    }
    for (code, found, wanted) in members where found != wanted {
      throw Refusal(code, "the bundle is for the \(code.rawValue) \"\(found)\"")
    }
  }
}

/// The reason for which a bundle, a delta or a call is refused.
public struct Refusal: Error, LocalizedError, Equatable, Sendable {
  /// What is refused.
  public enum Code: String, Sendable {
    // A bundle or a delta is refused.
    case signature, key, namespace, archive, format, org, user, pipeline, platform, contents
    /// The passphrase does not open a sealed bundle or delta.
    case seal
    /// The decision does not allow the installation.
    case notAllowed
    /// The stores are not the ones that a delta is for: install the bundle.
    case delta
    /// A store is missing, damaged, or was stopped while the SDK changed its indexes.
    case store
  }

  /// What is refused.
  public let code: Code
  /// The reason, as a sentence without its period.
  public let message: String
  /// The reason.
  public var errorDescription: String? { message }

  init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
}

enum JSON {
  private static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      return try withFraction.parse(text)
    }
    return decoder
  }

  static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(withFraction))
    }
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    return encoder
  }
}
