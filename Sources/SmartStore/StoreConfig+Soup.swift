import JSON

extension StoreConfig {
  /// The soups that attache and Mobile Sync register themselves.
  ///
  /// A configuration must not contain them.
  package static let reserved = [
    "syncs_soup": "Mobile Sync registers it", "attache_stamp": "attache writes it into every store",
    "attache_sent": "attache records in it what it is about to send",
  ]

  static func soup(
    _ node: JSONNode, _ names: inout [String: Int], _ reader: ConfigurationReader
  ) -> Soup? {
    guard
      // Files of older apps have `features`; the SDKs ignore it.
      let object = reader.object(
        node, known: ["soupName", "indexes", "features"], what: "a soup")
    else { return nil }
    let name = object.requiredText("soupName")
    if let name, let value = object["soupName"] { check(name, value, &names, reader) }
    guard object.required("indexes", "[{\"path\": \"Id\", \"type\": \"string\"}]") != nil,
      let elements = object.elements("indexes")
    else { return name.map { Soup(soupName: $0, indexes: []) } }
    if elements.isEmpty {
      reader.report(
        object["indexes"] ?? node, "both SDKs reject a soup without an index",
        "add at least {\"path\": \"Id\", \"type\": \"string\"}")
    }
    var paths: [String: Int] = [:]
    let indexes = elements.compactMap { index($0, &paths, reader) }
    return name.map { Soup(soupName: $0, indexes: indexes) }
  }

  private static func check(
    _ name: String, _ value: JSONNode, _ names: inout [String: Int], _ reader: ConfigurationReader
  ) {
    let quoted = JSONText.quoted(name)
    if let reason = reserved[name] {
      reader.report(value, "the soup name \(quoted) is reserved: \(reason)", "choose another name")
    } else if let bad = name.first(where: { "{}:".contains($0) || $0.isNewline || $0 == "\t" }) {
      reader.report(
        value, "the soup name \(quoted) cannot be used in Smart SQL, which writes {soup:path}",
        "remove \(JSONText.quoted(String(bad)))")
    } else if name.first == " " || name.last == " " {
      reader.report(value, "the soup name \(quoted) ends with a space", "remove the space")
    }
    if let line = names[name] {
      reader.report(
        value, "the soup \(quoted) appears twice; the SDK registers only the first",
        "merge it with the one on line \(line)")
    } else {
      names[name] = value.line
    }
  }

  private static func index(
    _ node: JSONNode, _ paths: inout [String: Int], _ reader: ConfigurationReader
  ) -> IndexSpec? {
    guard
      let object = reader.object(
        node, known: ["path", "type", "columnName"], what: "an index")
    else { return nil }
    let path = object.requiredText("path")
    let type = object.required("type", "\"string\"").flatMap {
      reader.word($0, "an index type", as: IndexType.self)
    }
    guard let path, let pathNode = object["path"] else { return nil }
    if let line = paths[path] {
      reader.report(
        pathNode,
        "\(JSONText.quoted(path)) is indexed twice; iOS would use the last, Android the first",
        "remove this index or the one on line \(line)")
    } else {
      paths[path] = node.line
    }
    guard let type, let typeNode = object["type"] else { return nil }
    check(path, pathNode, type, typeNode, reader)
    return IndexSpec(path: path, type: type)
  }

  private static func check(
    _ path: String, _ pathNode: JSONNode, _ type: IndexType, _ typeNode: JSONNode,
    _ reader: ConfigurationReader
  ) {
    if path == "__local__", let fault = type.localFlagFault {
      reader.report(typeNode, "the index on \"__local__\": \(fault)", "write \"string\"")
    }
    if ["_soupEntryId", "_soupLastModifiedDate", "_soupCreatedDate"].contains(path) {
      reader.report(
        pathNode, "\(path) needs no index: Smart SQL knows it, and iOS would leave the index empty",
        "remove this index")
    }
    if let bad = path.first(where: { "{}:".contains($0) || $0.isNewline })
      ?? (type == .json1 ? path.first { "'\"".contains($0) } : nil)
    {
      reader.report(
        pathNode, "the path \(JSONText.quoted(path)) cannot be used in Smart SQL",
        "remove \(JSONText.quoted(String(bad)))")
    }
    if path.split(separator: ".", omittingEmptySubsequences: false).contains("") {
      reader.report(
        pathNode, "the path \(JSONText.quoted(path)) has an empty component",
        "write names with one dot between them")
    }
  }
}
