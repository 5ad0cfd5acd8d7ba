import JSON
import System

extension SyncTarget {
  /// The kinds of sync down, in the order in which messages list them.
  static let downKinds: [any ConfiguredDownKind.Type] = [
    SoqlTarget.self, SoslTarget.self, MruTarget.self, RefreshTarget.self, LayoutTarget.self,
    MetadataTarget.self, BriefcaseTarget.self, CustomTarget.self, ParentChildrenTarget.self,
  ]

  /// Keys that every target may have.
  static let common = [
    "type", "idFieldName", "modificationDateFieldName", "iOSImpl", "androidImpl",
  ]

  /// Reads a target that attache or a device stored in `syncs_soup`; unknown keys are ignored.
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

  /// Reads the target of a sync; nil, with problems reported, if it is invalid.
  init?(node: JSONNode, type: SyncType, _ reader: ConfigurationReader) {
    let target =
      switch type {
      case .syncDown: Self.down(node, reader)
      case .syncUp: Self.up(node, reader)
      }
    guard let target else { return nil }
    self = target
  }

  private static func down(_ node: JSONNode, _ reader: ConfigurationReader) -> SyncTarget? {
    guard let members = node.members else {
      reader.wrongType(node, "an object", "write {\"type\": \"soql\", \"query\": \"SELECT …\"}")
      return nil
    }
    let types = downKinds.map { $0.type }
    let member =
      members.first { $0.name == "type" }
      ?? members.first { Spelling.nearest($0.name, among: ["type"]) != nil }
    guard let value = member?.value else {
      reader.report(
        node, "the target of a sync down requires \"type\"",
        "add \"type\": " + types.map(JSONText.quoted).joined(separator: " or "))
      return nil
    }
    guard let type = reader.string(value) else { return nil }
    guard let named = downKinds.first(where: { $0.type == type }) else {
      reader.report(
        value, "\(JSONText.quoted(type)) is not a target type",
        ConfigurationReader.oneOf(types, near: type))
      return nil
    }
    let kind = named == CustomTarget.self ? stockKind(node) ?? named : named
    if kind == CustomTarget.self { return CustomTarget(node, reader).map { SyncTarget($0) } }
    checkClass(node, kind.type, reader)
    return reader.object(node, known: common + kind.keys, what: "a \(kind.type) target")
      .flatMap { kind.init($0) }.map { SyncTarget($0) }
  }

  /// The kind whose built-in class a `custom` target names on each of its platforms; nil for a
  /// class of the app.
  private static func stockKind(_ node: JSONNode) -> (any ConfiguredDownKind.Type)? {
    let names = ["iOSImpl", "androidImpl"].compactMap { node[$0]?.string }.filter { !$0.isEmpty }
    let kinds = names.map { name -> (any ConfiguredDownKind.Type)? in
      let last = name.split(separator: ".").last.map(String.init) ?? name
      let plain = last.hasPrefix("SF") ? String(last.dropFirst(2)) : last
      guard plain.hasSuffix("SyncDownTarget") else { return nil }
      let word = plain.dropLast("SyncDownTarget".count).lowercased()
      return downKinds.first { $0.type.filter { $0 != "_" } == word }
    }
    guard let first = kinds.first, let kind = first, kind != CustomTarget.self,
      kinds.allSatisfy({ $0 == kind })
    else { return nil }
    return kind
  }

  /// Warns that iOS runs the app's own class instead of the kind; stored targets were accepted
  /// before and are not checked.
  private static func checkClass(
    _ node: JSONNode, _ type: String, _ reader: ConfigurationReader
  ) {
    guard !reader.isLenient, let value = node["iOSImpl"], let name = value.string,
      !name.isEmpty, !(name.hasPrefix("SF") && name.hasSuffix("SyncDownTarget"))
    else { return }
    reader.report(
      value,
      "iOS runs the class \(JSONText.quoted(name)) instead of this \(type) target, "
        + "and Android does not",
      "remove \"iOSImpl\", or write \"type\": \"custom\" with the classes of both platforms")
  }

  private static func up(_ node: JSONNode, _ reader: ConfigurationReader) -> SyncTarget? {
    guard node.members != nil else {
      reader.wrongType(node, "an object", "write {} for a sync up without its own lists")
      return nil
    }
    let kind = SyncUpTarget.kind(of: node, reader)
    if kind == .custom { return CustomTarget(node, reader).map { SyncTarget($0) } }
    let keys = SyncUpTarget.keys + (kind == .parentChildren ? ParentChildrenFamily.keys : [])
    return reader.object(node, known: common + keys, what: "the target of a sync up")
      .flatMap { SyncUpTarget($0, kind) }.map { SyncTarget($0) }
  }
}
