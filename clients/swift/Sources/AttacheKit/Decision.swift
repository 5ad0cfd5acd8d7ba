import Foundation

/// What an app does next.
///
/// The rules are in `clients/decisions.json`.
public struct Decision: Equatable, Sendable {
  /// What to do.
  public enum Action: String, Codable, Sendable {
    /// Install the bundle.
    case install
    /// Apply the delta; if it is refused, install the bundle.
    case delta
    /// Return the store; then ask again.
    case returnFirst = "return"
    /// Nothing to do until a newer bundle is offered.
    case wait
  }

  /// What to do.
  public let action: Action
  /// The position of the offer to install or apply.
  public let offer: Int?
  /// Whether the offer is past its `expires`: show the user its age.
  public var isExpired = false
}

/// The installed stores, as a decision sees them.
public struct Installed: Codable, Equatable, Sendable {
  /// A return that has arrived.
  public struct Returned: Codable, Equatable, Sendable {
    /// Its number.
    public var handback: Int
    /// When it was made, by the device's clock.
    public var at: Date
  }

  /// The generation in the stamp of the user's stores.
  public var generation: Int
  /// When the bundle was made; nil if this kit did not install it.
  public var created: Date?
  /// The stamp ID of the user's stores.
  public var stampId: String
  /// The ID of the installation; nil if no app marked it.
  public var install: String?
  /// The number of the last return that was prepared.
  public var handback: Int
  /// The stamp ID of each store by its path.
  public var stamps: [String: String]
  /// The number of elements with local changes, in all stores.
  public var dirty: Int
  /// Whether a store came with open edits.
  public var carried: Bool
  /// Whether a return of this installation had local changes.
  public var returnedWork: Bool
  /// Whether the local changes differ from those at the last return, or at the installation.
  public var changed: Bool
  /// The last return of this installation that was delivered.
  public var returned: Returned?
}

/// A bundle or a delta that may be installed.
public struct Offered: Codable, Equatable, Sendable {
  /// The generation of the bundle.
  public var generation: Int
  /// When the bundle was made.
  public var created: Date
  /// When the app should ask for a newer one.
  public var expires: Date?
  /// The returns that the bundle includes.
  public var includes: [Manifest.Include]
  /// For a delta: the stamp ID of each store that it is for, by path.
  public var from: [String: String]?
}

/// The facts on which a decision depends.
public struct Facts: Equatable, Sendable {
  /// A bundle that is newer than the installed one is offered.
  public var newer = false
  /// A delta from the installed bundle to the newest one is offered.
  public var delta = false
  /// Elements have local changes, or came open, or were returned with local changes.
  public var work = false
  /// The local changes differ from those at the last return, or at the installation.
  public var changed = false
  /// The last return was delivered.
  public var returned = false
  /// The newest bundle includes the last return.
  public var included = false
  /// The newest bundle was made after the return, which is some days old, without it; or the
  /// clock was set back to before the return.
  public var overdue = false

  /// Decides; a pure function.
  public var action: Decision.Action {
    guard newer else { return changed ? .returnFirst : .wait }
    if !work { return delta ? .delta : .install }
    if changed || !returned { return .returnFirst }
    if included { return delta ? .delta : .install }
    return overdue ? .returnFirst : .wait
  }
}

extension Decision {
  /// The days after which a return that no bundle includes is repeated.
  static let repeatAfterDays = 3.0

  /// Decides about offers; a pure function.
  public init(_ installed: Installed?, _ offers: [Offered], now: Date) {
    var facts = Facts()
    func isNewer(_ offer: Offered) -> Bool {
      guard let installed else { return true }
      if offer.generation != installed.generation { return offer.generation > installed.generation }
      return installed.created.map { offer.created > $0 } ?? false
    }
    func age(_ offer: Offered) -> (Int, Date) { (offer.generation, offer.created) }
    let usable = offers.indices.filter { index in
      isNewer(offers[index]) && (offers[index].from.map { $0 == installed?.stamps } ?? true)
    }
    // Of one age, a delta comes first.
    let best = usable.max { left, right in
      let (one, other) = (offers[left], offers[right])
      if age(one) != age(other) { return age(one) < age(other) }
      return one.from == nil && other.from != nil
    }
    facts.newer = best != nil
    facts.delta = best.map { offers[$0].from != nil } ?? false
    if let installed {
      facts.work = installed.dirty > 0 || installed.carried || installed.returnedWork
      facts.changed = installed.changed
      facts.returned = installed.returned?.handback == installed.handback
      if let best, let install = installed.install {
        facts.included = offers[best].includes.contains {
          $0.stampId == installed.stampId && $0.install == install
            && ($0.handback ?? -1) >= installed.handback
        }
      }
      if let best, let at = installed.returned?.at {
        facts.overdue =
          offers[best].created > at && now > at.addingTimeInterval(Self.repeatAfterDays * 86_400)
          || now < at
      }
    }
    action = facts.action
    offer = action == .install || action == .delta ? best : nil
    isExpired = offer.flatMap { offers[$0].expires }.map { now > $0 } ?? false
  }
}
