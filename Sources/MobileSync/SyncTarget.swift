import JSON

/// The two directions of a sync.
public enum SyncType: String, Sendable, Hashable, CaseIterable {
  /// From the org into a soup.
  case syncDown
  /// From a soup to the org.
  case syncUp
}

/// The target of a sync: one of those that Mobile Sync knows, or an app's own.
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
  /// What it is: a `SoqlTarget`, a `SyncUpTarget` and so on.
  let kind: any SyncTargetKind

  /// A target of a kind.
  init(_ kind: any SyncTargetKind) { self.kind = kind }

  /// Records that a SOQL query finds.
  public static func soql(_ target: SoqlTarget) -> SyncTarget { SyncTarget(target) }
  /// Records that a SOSL search finds.
  public static func sosl(_ target: SoslTarget) -> SyncTarget { SyncTarget(target) }
  /// Records that the user opened last.
  public static func mru(_ target: MruTarget) -> SyncTarget { SyncTarget(target) }
  /// Records that are in the soup already.
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
  /// Local changes on their way up.
  public static func syncUp(_ target: SyncUpTarget) -> SyncTarget { SyncTarget(target) }
  /// A target whose code is in the app, or in the embedding program (`CustomTargets`).
  public static func custom(_ target: CustomTarget) -> SyncTarget { SyncTarget(target) }

  /// Says whether two targets are of one kind and say the same.
  public static func == (one: SyncTarget, other: SyncTarget) -> Bool {
    AnyHashable(one.kind) == AnyHashable(other.kind)
  }

  /// Hashes what the target says.
  public func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(kind)) }

  /// The target as one of a kind, such as `SoqlTarget.self`; nil for one of another kind.
  package func of<Kind>(_ kind: Kind.Type) -> Kind? { self.kind as? Kind }

  /// The target as a file has it.
  package var json: JSONValue { kind.json }

  /// The target as a device stores it once it has constructed it (`SyncTargetKind.stored`).
  package func stored(variables: [String: String] = [:]) throws(SyncError) -> JSONValue {
    try kind.stored(variables: variables)
  }

  /// The texts in which `:name` stands for a value.
  package var queries: [String] { kind.queries }
}
