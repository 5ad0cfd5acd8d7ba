import AttacheKit
import Foundation

/// The kit of `clients/` as the app of a phone uses it.
protocol PhoneKit {
  /// Does what the kit decides about a bundle and a delta; a delta that is refused is replaced by
  /// the bundle.
  func sync(bundle: String, delta: String?, now: Int64) throws -> KitOutcome

  /// Whether the kit sees changes since the last return.
  func hasChanges() throws -> Bool

  /// Prepares a return, and passes its file on; only a delivered one counts for the kit.
  func returnStore(
    as file: String, now: Int64, isDelivered: Bool, upload: (String) throws -> Void) throws
}

/// What a phone did with an offered bundle.
enum KitOutcome: String, Sendable, Hashable, CaseIterable {
  case install, delta, returnFirst = "return", wait
  /// The delta was refused, and the bundle was installed.
  case refusedDelta

  var isInstalled: Bool { self != .returnFirst && self != .wait }
}

/// The user of a kit, and the key that it trusts.
struct KitOwner {
  var org: String
  var user: String
  var isAndroid: Bool
  var key: String
}

/// The kit of `clients/swift`.
struct SwiftKit: PhoneKit {
  private let kit: Attache

  init(root: String, _ owner: KitOwner) throws {
    kit = Attache(
      root: URL(fileURLWithPath: root),
      owner: Owner(
        org: owner.org, user: owner.user, pipeline: HistoryPipeline.name,
        platform: owner.isAndroid ? .android : .ios), trust: try Trust(keys: [owner.key]))
    try kit.resume()
  }

  func sync(bundle: String, delta: String?, now: Int64) throws -> KitOutcome {
    let date = Self.date(now)
    let offer = try kit.verify(URL(fileURLWithPath: bundle))
    var offers = [offer]
    // A delta for other stores is refused at once.
    if let delta, let verified = try? kit.verify(URL(fileURLWithPath: delta)) {
      offers.append(verified)
    }
    let decision = try kit.decide(offers, now: date)
    switch decision.action {
    case .returnFirst: return .returnFirst
    case .wait: return .wait
    case .install:
      try kit.install(offer, now: date)
      return .install
    case .delta:
      do { try kit.install(offers[1], now: date) } catch let refusal as Refusal
        where refusal.code == .delta
      {
        try kit.install(offer, now: date)
        return .refusedDelta
      }
      return .delta
    }
  }

  func hasChanges() throws -> Bool { try kit.hasChanges() }

  func returnStore(
    as file: String, now: Int64, isDelivered: Bool, upload: (String) throws -> Void
  ) throws {
    let returned = try kit.prepareReturn(as: URL(fileURLWithPath: file), now: Self.date(now))
    try upload(file)
    if isDelivered { try kit.delivered(returned) }
  }

  private static func date(_ now: Int64) -> Date { Date(timeIntervalSince1970: Double(now) / 1000) }
}
