import Crypto
import JSON
import SmartStore

/// What a store says of its own issue: whose it is, from which pipeline and generation.
///
/// It is one element of the soup `attache_stamp`, because a table survives what a device does to a
/// file, and header fields do not. The stamp id is a keyed digest of the other members, so a repeated
/// prime makes the same one and nobody without the pipeline's key makes another. `install` and
/// `handback` are the app's and are not part of it, nor are `carried` and `epoch`, which only says the key.
package struct Provenance: Sendable, Hashable {
  /// The soup that holds it.
  package static let soupName = "attache_stamp"
  /// The soup's only index.
  package static let indexSpecs = [IndexSpec(path: "stampId", type: .string)]
  /// What stands for the user in a global store.
  package static let globalUser = StoreScope.global.rawValue

  /// The organization's 18-character id.
  package let org: String
  /// The user's 18-character id, or `global`.
  package let user: String
  /// The pipeline's name.
  package let pipeline: String
  /// The generation of the snapshot.
  package let generation: Int
  /// The layout of the store.
  package let platform: Platform
  /// HMAC-SHA-256 of the members above, in hexadecimal digits.
  package let stampID: String
  /// Which recovery of the ledger its key was made at; nil before the first.
  package let epoch: Int?
  /// A fresh UUID of each installation, if the app sets it.
  package var install: String?
  /// How often the installation has handed its store back, if the app counts it.
  package var handback: Int?
  /// The run that put open edits into the store, where one did.
  package var carried: String?

  /// Issues a stamp.
  package init(
    org: String, user: String, pipeline: String, generation: Int, platform: Platform,
    key: [UInt8], epoch: Int? = nil
  ) {
    self.epoch = epoch
    self.org = org
    self.user = user
    self.pipeline = pipeline
    self.generation = generation
    self.platform = platform
    stampID = Provenance.id(
      org: org, user: user, pipeline: pipeline, generation: generation, platform: platform,
      key: key)
  }

  /// Whether the stamp id is the one that the key gives to the other members.
  package func isGenuine(key: [UInt8]) -> Bool {
    let expected = Provenance.id(
      org: org, user: user, pipeline: pipeline, generation: generation, platform: platform,
      key: key)
    return Digest.areEqual(Array(expected.utf8), Array(stampID.utf8))
  }

  private static func id(
    org: String, user: String, pipeline: String, generation: Int, platform: Platform,
    key: [UInt8]
  ) -> String {
    // A JSON array says where each member ends, so no two stamps have one message.
    let message: JSONValue = [
      "attache-stamp-1", .string(org), .string(user), .string(pipeline),
      .number(String(generation)), .string(platform.rawValue),
    ]
    return Hex.encode(HMAC.sha256(key: key, message.bytes))
  }

  // MARK: The element

  /// The element of the soup, without SmartStore's own members.
  package var json: JSONValue {
    var object: JSONObject = [
      "stampId": .string(stampID), "org": .string(org), "user": .string(user),
      "pipeline": .string(pipeline), "generation": .number(String(generation)),
      "platform": .string(platform.rawValue),
    ]
    if let epoch { object["epoch"] = .number(String(epoch)) }
    if let carried { object["carried"] = .string(carried) }
    if let install { object["install"] = .string(install) }
    if let handback { object["handback"] = .number(String(handback)) }
    return .object(object)
  }

  /// Longer text than this is in no stamp.
  private static let longestText = 256

  /// Reads an element; nil when it is no stamp.
  ///
  /// Whether it is genuine is another question.
  package init?(json: JSONValue) {
    func text(_ name: String) -> String? {
      json[name]?.string.flatMap { $0.isEmpty || $0.utf8.count > Provenance.longestText ? nil : $0 }
    }
    guard let org = text("org"), let user = text("user"), let pipeline = text("pipeline"),
      let generation = json["generation"]?.int.flatMap({ Int(exactly: $0) }), generation > 0,
      let platform = text("platform").flatMap(Platform.init), let stampID = text("stampId")
    else { return nil }
    self.org = org
    self.user = user
    self.pipeline = pipeline
    self.generation = generation
    self.platform = platform
    self.stampID = stampID
    epoch = json["epoch"]?.int.flatMap { Int(exactly: $0) }
    install = text("install")
    carried = text("carried")
    handback = json["handback"]?.int.flatMap { Int(exactly: $0) }.flatMap { $0 < 0 ? nil : $0 }
  }
}
