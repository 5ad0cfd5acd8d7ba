import Foundation

/// The platform whose SDK made or reads a store.
public enum Platform: String, Codable, Sendable {
  case ios, android
}

/// The description of a bundle: `manifest.json`.
public struct Manifest: Codable, Equatable, Sendable {
  public struct Store: Codable, Equatable, Sendable {
    public let scope, path, sha256, stampId: String
    public let bytes: Int
  }

  /// A return whose edits are all resolved or in the bundle.
  public struct Include: Codable, Equatable, Sendable {
    public let stampId: String
    public let install: String?
    public let handback: Int?
  }

  public struct Seal: Codable, Equatable, Sendable {
    public let with: String
    public let kdfIterations: Int
  }

  public let format: Int
  public let org, user, pipeline, stampId: String
  public let generation: Int
  public let platform: String
  public let created: Date
  public let expires: Date?
  public let seal: Seal?
  public let stores: [Store]
  public let includes: [Include]
  /// Sentences for the user: data that was missing when the stores were created.
  public let warnings: [String]
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
}

/// The user whose bundles an app installs.
public struct Owner: Equatable, Sendable {
  public let org, user, pipeline: String
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
  public enum Code: String, Sendable {
    // A bundle or a delta is refused.
    case signature, key, namespace, archive, format, org, user, pipeline, platform, contents
    /// The decision does not allow the installation.
    case notAllowed
    /// The stores are not the ones that a delta is for: install the bundle.
    case delta
    /// A store is missing, damaged, or was stopped while the SDK changed its indexes.
    case store
  }

  public let code: Code
  public let message: String
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
