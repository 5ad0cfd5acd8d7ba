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
public enum SyncTarget: Sendable, Hashable {
  /// Records that a SOQL query finds.
  case soql(SoqlTarget)
  /// Records that a SOSL search finds.
  case sosl(SoslTarget)
  /// Records that the user opened last.
  case mru(MruTarget)
  /// Records that are in the soup already.
  case refresh(RefreshTarget)
  /// A page layout.
  case layout(LayoutTarget)
  /// The description of an object type.
  case metadata(MetadataTarget)
  /// Records with their children, in two soups.
  case parentChildren(ParentChildrenTarget)
  /// Records that briefcases assign to the user.
  case briefcase(BriefcaseTarget)
  /// Local changes on their way up.
  case syncUp(SyncUpTarget)
  /// A target whose code is in the app; it is carried, not run.
  case custom(CustomTarget)

  /// The target as a device stores it.
  package var json: JSONValue {
    switch self {
    case .soql(let target): target.json
    case .sosl(let target): target.json
    case .mru(let target): target.json
    case .refresh(let target): target.json
    case .layout(let target): target.json
    case .metadata(let target): target.json
    case .parentChildren(let target): target.json
    case .briefcase(let target): target.json
    case .syncUp(let target): target.json
    case .custom(let target): target.json
    }
  }

  /// Reads a target as it is stored in `syncs_soup`, by attache or by a device; unknown keys are
  /// passed over.
  package init(stored json: JSONValue, type: SyncType) throws(Problems) {
    let reader = ConfigurationReader(file: "syncs_soup", isLenient: true)
    let target = reader.parse(json.bytes).flatMap { SyncTarget(node: $0, type: type, reader) }
    try reader.finish()
    guard let target else {
      throw Problems([
        Problem(
          file: "syncs_soup", line: 0, column: 0, path: "", message: "the target is unknown",
          fix: "")
      ])
    }
    self = target
  }

  /// Reads the target of a sync; nil with problems when it is none.
  init?(node: JSONNode, type: SyncType, _ reader: ConfigurationReader) {
    let target: SyncTarget? =
      switch type {
      case .syncDown: Self.down(node, reader)
      case .syncUp: Self.up(node, reader)
      }
    guard let target else { return nil }
    self = target
  }
}

/// The values of `type` that a sync down may have.
enum SyncDownType: String, CaseIterable {
  case soql, sosl, mru, refresh, layout, metadata, briefcase, custom
  case parentChildren = "parent_children"

  /// The type whose stock class a `custom` target names on each platform that it names; nil for the
  /// app's own.
  init?(stockClassesOf node: JSONNode) {
    let names = ["iOSImpl", "androidImpl"].compactMap { node[$0]?.string }.filter { !$0.isEmpty }
    let types = names.map { name -> SyncDownType? in
      let last = name.split(separator: ".").last.map(String.init) ?? name
      let plain = last.hasPrefix("SF") ? String(last.dropFirst(2)) : last
      guard plain.hasSuffix("SyncDownTarget") else { return nil }
      let kind = plain.dropLast("SyncDownTarget".count).lowercased()
      return kind == "parentchildren" ? .parentChildren : SyncDownType(rawValue: kind)
    }
    guard let first = types.first, let type = first, type != .custom,
      types.allSatisfy({ $0 == type })
    else { return nil }
    self = type
  }
}

extension SyncTarget {
  /// Keys that every target may have.
  static let common = [
    "type", "idFieldName", "modificationDateFieldName", "iOSImpl", "androidImpl",
  ]

  private static func down(_ node: JSONNode, _ reader: ConfigurationReader) -> SyncTarget? {
    guard let members = node.members else {
      reader.wrongType(node, "an object", "write {\"type\": \"soql\", \"query\": \"SELECT …\"}")
      return nil
    }
    let types = SyncDownType.allCases.map(\.rawValue)
    let member =
      members.first { $0.name == "type" }
      ?? members.first { Spelling.nearest($0.name, among: ["type"]) != nil }
    guard let type = member?.value else {
      reader.report(
        node, "the target of a sync down needs \"type\"",
        "add \"type\": " + types.map(JSONText.quoted).joined(separator: " or "))
      return nil
    }
    guard let named = reader.word(type, "a type of target", as: SyncDownType.self) else {
      return nil
    }
    let known = named == .custom ? SyncDownType(stockClassesOf: node) ?? .custom : named
    func object(_ keys: [String]) -> ConfigurationObject? {
      checkClass(node, known, reader)
      return reader.object(node, known: common + keys, what: "a \(known.rawValue) target")
    }
    switch known {
    case .soql: return object(SoqlTarget.keys).flatMap(SoqlTarget.init).map(SyncTarget.soql)
    case .sosl: return object(SoslTarget.keys).flatMap(SoslTarget.init).map(SyncTarget.sosl)
    case .mru: return object(MruTarget.keys).flatMap(MruTarget.init).map(SyncTarget.mru)
    case .refresh:
      return object(RefreshTarget.keys).flatMap(RefreshTarget.init).map(SyncTarget.refresh)
    case .layout: return object(LayoutTarget.keys).flatMap(LayoutTarget.init).map(SyncTarget.layout)
    case .metadata:
      return object(MetadataTarget.keys).flatMap(MetadataTarget.init).map(SyncTarget.metadata)
    case .parentChildren:
      return object(ParentChildrenTarget.keys).flatMap(ParentChildrenTarget.init)
        .map(SyncTarget.parentChildren)
    case .briefcase:
      return object(BriefcaseTarget.keys).flatMap(BriefcaseTarget.init).map(SyncTarget.briefcase)
    case .custom: return CustomTarget(node, reader).map(SyncTarget.custom)
    }
  }

  /// Says of an app's own class beside a kind that iOS runs the class; what a store holds was accepted
  /// before.
  private static func checkClass(
    _ node: JSONNode, _ known: SyncDownType, _ reader: ConfigurationReader
  ) {
    guard !reader.isLenient, let value = node["iOSImpl"], let name = value.string,
      !name.isEmpty, !(name.hasPrefix("SF") && name.hasSuffix("SyncDownTarget"))
    else { return }
    reader.report(
      value,
      "iOS runs the class \(JSONText.quoted(name)) in the place of this \(known.rawValue) target, "
        + "and Android does not",
      "remove \"iOSImpl\", or write \"type\": \"custom\" with the classes of both platforms")
  }

  private static func up(_ node: JSONNode, _ reader: ConfigurationReader) -> SyncTarget? {
    guard node.members != nil else {
      reader.wrongType(node, "an object", "write {} for a sync up without lists of its own")
      return nil
    }
    let kind = SyncUpTarget.kind(of: node, reader)
    if kind == .custom { return CustomTarget(node, reader).map(SyncTarget.custom) }
    let keys = SyncUpTarget.keys + (kind == .parentChildren ? ParentChildrenFamily.keys : [])
    return reader.object(node, known: common + keys, what: "the target of a sync up")
      .flatMap { SyncUpTarget($0, kind) }.map(SyncTarget.syncUp)
  }
}
