import Crypto
import JSON
import SmartStore

/// The origin of a store: its user, its pipeline and its generation.
///
/// It is an element of the soup `attache_stamp`, because a table survives what a device does to a
/// file, and header fields do not. The stamp ID is a keyed digest of the other members: a repeated
/// prime creates the same one, and no one without the pipeline's key can create another. `install`
/// and `handback` are set by the app and are not part of the digest. Neither are `carried` and
/// `epoch`; the epoch only selects the key.
package struct Provenance: Sendable, Hashable {
  /// The soup with the stamp.
  package static let soupName = "attache_stamp"
  /// The only index of the soup.
  package static let indexSpecs = [IndexSpec(path: "stampId", type: .string)]
  /// The user in the stamp of a global store.
  package static let globalUser = StoreScope.global.rawValue

  /// The organization's 18-character ID.
  package let org: String
  /// The user's 18-character ID, or `global`.
  package let user: String
  /// The name of the pipeline.
  package let pipeline: String
  /// The generation of the snapshot.
  package let generation: Int
  /// The platform of the store.
  package let platform: Platform
  /// The HMAC-SHA-256 of the members above, in hexadecimal digits.
  package let stampID: String
  /// The recovery of the ledger at which the key was created; nil before the first one.
  package let epoch: Int?
  /// A new UUID for each installation, if the app sets it.
  package var install: String?
  /// The number of returns of the installation, if the app counts them.
  package var handback: Int?
  /// The run that wrote open edits into the store, if one did.
  package var carried: String?

  /// Issues a stamp.
  package init(
    org: String, user: String, pipeline: String, generation: Int, platform: Platform,
    key: [UInt8], epoch: Int? = nil
  ) {
    self.init(
      org: org, user: user, pipeline: pipeline, generation: generation, platform: platform,
      stampID: Provenance.id(
        org: org, user: user, pipeline: pipeline, generation: generation, platform: platform,
        key: key),
      epoch: epoch)
  }

  /// A stamp whose ID was created where the key is.
  package init(
    org: String, user: String, pipeline: String, generation: Int, platform: Platform,
    stampID: String, epoch: Int? = nil
  ) {
    self.epoch = epoch
    self.org = org
    self.user = user
    self.pipeline = pipeline
    self.generation = generation
    self.platform = platform
    self.stampID = stampID
  }

  /// Whether the stamp ID is the one that the key gives for the other members.
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
    // A JSON array delimits its elements, so different stamps have different messages.
    let message: JSONValue = [
      "attache-stamp-1", .string(org), .string(user), .string(pipeline),
      .number(String(generation)), .string(platform.rawValue),
    ]
    return Hex.encode(HMAC.sha256(key: key, message.bytes))
  }

  // MARK: The element

  /// The element of the soup, without SmartStore's members.
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

  /// The maximum length of a text in a stamp.
  private static let longestText = 256

  /// Parses an element; nil if it is not a stamp.
  ///
  /// Whether the stamp is genuine is not checked.
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
