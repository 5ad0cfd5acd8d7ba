import JSON

/// The two directions of a sync.
public enum SyncType: String, Sendable, Hashable, CaseIterable {
  /// Fetches from the org into a soup.
  case syncDown
  /// Sends from a soup to the org.
  case syncUp
}

/// The target of a sync: one of Mobile Sync's targets, or a custom one.
///
/// ```swift
/// extension SyncTarget {
///   /// The holidays of a country.
///   static func holidays(of country: String) throws -> SyncTarget {
///     let json = #"{"country": "\#(country)"}"#
///     return .custom(try CustomTarget(androidImpl: Holidays.className, json: json))
///   }
/// }
/// ```
public struct SyncTarget: Sendable, Hashable {
  /// The concrete target, such as a `SoqlTarget` or a `SyncUpTarget`.
  let kind: any SyncTargetKind

  init(_ kind: any SyncTargetKind) { self.kind = kind }

  /// Records found by a SOQL query.
  public static func soql(_ target: SoqlTarget) -> SyncTarget { SyncTarget(target) }
  /// Records found by a SOSL search.
  public static func sosl(_ target: SoslTarget) -> SyncTarget { SyncTarget(target) }
  /// The records that the user opened last.
  public static func mru(_ target: MruTarget) -> SyncTarget { SyncTarget(target) }
  /// The records that are already in the soup.
  public static func refresh(_ target: RefreshTarget) -> SyncTarget { SyncTarget(target) }
  /// A page layout.
  public static func layout(_ target: LayoutTarget) -> SyncTarget { SyncTarget(target) }
  /// The description of an object type.
  public static func metadata(_ target: MetadataTarget) -> SyncTarget { SyncTarget(target) }
  /// Records with their children, in two soups.
  public static func parentChildren(_ target: ParentChildrenTarget) -> SyncTarget {
    SyncTarget(target)
  }
  /// Records that briefcases assign to the user.
  public static func briefcase(_ target: BriefcaseTarget) -> SyncTarget { SyncTarget(target) }
  /// Local changes to send to the org.
  public static func syncUp(_ target: SyncUpTarget) -> SyncTarget { SyncTarget(target) }
  /// A target whose code is in the app or in the embedding program (`CustomTargets`).
  public static func custom(_ target: CustomTarget) -> SyncTarget { SyncTarget(target) }

  /// Whether two targets have the same kind and configuration.
  public static func == (one: SyncTarget, other: SyncTarget) -> Bool {
    AnyHashable(one.kind) == AnyHashable(other.kind)
  }

  /// Hashes the target's kind and configuration.
  public func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(kind)) }

  /// Returns the target as a kind such as `SoqlTarget.self`; nil if it has another kind.
  package func of<Kind>(_ kind: Kind.Type) -> Kind? { self.kind as? Kind }

  /// The target as written in a configuration file.
  package var json: JSONValue { kind.json }

  /// Returns the target as a device stores it once the target was constructed
  /// (`SyncTargetKind.stored`).
  package func stored(variables: [String: String] = [:]) throws(SyncError) -> JSONValue {
    try kind.stored(variables: variables)
  }

  /// The texts in which `:name` is a variable.
  package var queries: [String] { kind.queries }
}
