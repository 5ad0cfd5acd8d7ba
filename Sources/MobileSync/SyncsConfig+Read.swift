import JSON

extension SyncsConfig {
  private static let syncKeys = ["syncName", "syncType", "soupName", "target", "options"]

  /// Reads as much of a file as can be understood; problems are reported to the reader.
  package static func read(_ json: [UInt8], _ reader: ConfigurationReader) -> SyncsConfig {
    guard let node = reader.parse(json) else { return SyncsConfig(syncs: []) }
    var names: [String: Int] = [:]
    var places: [String: JSONNode] = [:]
    if isOneSync(node) {
      reader.report(
        node, "this is a single sync, not a file of syncs", "wrap it: {\"syncs\": [ … ]}")
      let sync = definition(node, &names, &places, reader)
      return SyncsConfig(syncs: sync.map { [$0] } ?? [], places: places, definitions: [:])
    }
    if reader.isOther(node, than: .sync) { return SyncsConfig(syncs: []) }
    guard let root = reader.object(node, known: ["$schema", "syncs"], what: "a sync file"),
      root.required("syncs", "[ … ]") != nil
    else { return SyncsConfig(syncs: []) }
    let syncs = (root.elements("syncs") ?? []).compactMap {
      definition($0, &names, &places, reader)
    }
    let nodes = (node["syncs"]?.array ?? []).compactMap { node in
      node["syncName"]?.string.map { ($0, node) }
    }
    return SyncsConfig(
      syncs: syncs, places: places, definitions: Dictionary(nodes) { first, _ in first })
  }

  private static func isOneSync(_ node: JSONNode) -> Bool {
    guard let members = node.members, node["syncs"] == nil else { return false }
    return members.count { syncKeys.contains($0.name) } >= 2
  }

  private static func definition(
    _ node: JSONNode, _ names: inout [String: Int], _ places: inout [String: JSONNode],
    _ reader: ConfigurationReader
  ) -> SyncDefinition? {
    guard let object = reader.object(node, known: syncKeys, what: "a sync") else { return nil }
    let name = object.requiredText("syncName")
    if let name, let value = object["syncName"] {
      if let line = names[name] {
        reader.report(
          value, "the sync \(JSONText.quoted(name)) is defined twice; the SDK keeps only the first",
          "rename it, or remove the one on line \(line)")
      } else {
        names[name] = value.line
      }
    }
    if let name, places[name] == nil { places[name] = node }
    let type = object.required("syncType", "\"syncDown\"").flatMap {
      reader.word($0, "a sync type", as: SyncType.self)
    }
    let soupName = object.requiredText("soupName")
    let options = object.required("options", "{\"mergeMode\": \"OVERWRITE\"}").flatMap {
      SyncOptions($0, of: type, reader)
    }
    let example = type == .syncUp ? "{}" : "{\"type\": \"soql\", \"query\": \"SELECT …\"}"
    let targetNode = object.required("target", example)
    guard let type, let targetNode else { return nil }
    let target = SyncTarget(node: targetNode, type: type, reader)
    guard let name, let soupName, let options, let target else { return nil }
    checkLists(target, options, object, reader)
    return SyncDefinition(
      syncName: name, syncType: type, soupName: soupName, target: target, options: options,
      line: node.line, column: node.column)
  }

  /// Checks that a sync up has a list of fields to send: without one, the whole sync fails on the
  /// device.
  ///
  /// A sync up that only creates or only updates needs only the list for that.
  private static func checkLists(
    _ target: SyncTarget, _ options: SyncOptions, _ object: ConfigurationObject,
    _ reader: ConfigurationReader
  ) {
    guard let target = target.kind as? SyncUpTarget, options.fieldlist == nil,
      object["options"]?["fieldlist"] == nil
    else { return }
    let missing = [
      ("creates", "createFieldlist", target.createFieldlist),
      ("updates", "updateFieldlist", target.updateFieldlist),
    ].filter { $0.2 == nil && object["target"]?[$0.1] == nil }
    guard missing.count > 1 else { return }
    reader.report(
      object["options"] ?? object.node,
      "this sync up names no fields for its " + missing.map(\.0).joined(separator: " and "),
      "add \"fieldlist\": [\"…\"] here, or "
        + missing.map { "\"\($0.1)\"" }.joined(separator: " or ") + " to the target")
  }
}

extension SyncDefinition {
  /// The definition as written in a configuration file.
  package var json: JSONValue {
    [
      "syncName": .string(syncName), "syncType": .string(syncType.rawValue),
      "soupName": .string(soupName), "target": target.json, "options": options.json,
    ]
  }
}
