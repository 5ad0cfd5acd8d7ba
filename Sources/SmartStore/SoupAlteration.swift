import JSON
import SQLite

/// A change of a soup's indexes, as the SDKs apply it: in steps recorded in
/// `long_operations_status`, so that an interrupted change is resumed when the store is opened
/// again.
package struct SoupAlteration {
  /// The message for a row of the table that no SDK writes.
  static let unknownText = "contains a change that no SDK makes"
  /// The fix for an interrupted change.
  static let interruptedFix = "open the store in its app once, or let attache ingest it"

  /// The last completed step.
  package enum Step: Int, CaseIterable, Comparable {
    case starting, renameOldSoupTable, dropOldIndexes, registerSoupUsingTableName, copyTable
    case reIndexSoup, dropOldTable
    /// Only on iOS: the row of the operation is removed.
    case cleanup

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The content of `status`: a number on iOS, a name on Android.
    package func status(on platform: Platform) -> String {
      platform == .ios ? String(rawValue) : Self.androidNames[rawValue]
    }

    init?(status: String, platform: Platform) {
      let position =
        platform == .ios ? Int(status) : Self.androidNames.firstIndex(of: status)
      guard let position, let step = Self(rawValue: position) else { return nil }
      self = step
    }

    private static let androidNames = [
      "STARTING", "RENAME_OLD_SOUP_TABLE", "DROP_OLD_INDEXES", "REGISTER_SOUP_USING_TABLE_NAME",
      "COPY_TABLE", "RE_INDEX_SOUP", "DROP_OLD_TABLE",
    ]

    /// The step after which the row is removed.
    package static func last(on platform: Platform) -> Self {
      platform == .ios ? .cleanup : .dropOldTable
    }
  }

  let platform: Platform
  /// The soup before the change.
  let old: Soup
  /// The soup after the change, under the same number.
  let new: Soup
  let reIndexData: Bool
  var lastStep = Step.starting

  package init(
    platform: Platform, old: Soup, specs: [IndexSpec], reIndexData: Bool,
    lastStep: Step = .starting
  ) {
    self.platform = platform
    self.old = old
    new = Soup(name: old.name, number: old.number, specs: specs)
    self.reIndexData = reIndexData
    self.lastStep = lastStep
  }

  /// The content of `type`.
  static func type(on platform: Platform) -> String {
    platform == .ios ? "AlterSoup" : "alterSoup"
  }

  /// The name of the old table while there are two.
  var oldTable: String { old.table + "_old" }

  /// The name of the old full-text table while there are two.
  var oldFullTextTable: String {
    platform == .ios ? old.fullTextTable + "_old" : oldTable + "_fts"
  }

  /// The columns that are copied: the old expression with the new column.
  ///
  /// A path keeps its values if both types have the same SQL type. Android also uses the values of
  /// a json1 index, iOS does not.
  var keptColumns: [(old: String, new: Soup.Column)] {
    new.columns.compactMap { column in
      guard let position = old.specs.lastIndex(where: { $0.path == column.spec.path }) else {
        return nil
      }
      let type = old.specs[position].type.columnType
      let isKept = type == column.spec.type.columnType || (type == nil && platform == .android)
      return isKept ? (old.columnNames[position], column) : nil
    }
  }

  /// The paths with a new combination of path and type.
  var changedPaths: [String] {
    let known = Set(old.specs)
    return new.specs.filter { !known.contains($0) }.map(\.path)
  }

  // MARK: the row

  /// The content of `details`.
  var details: JSONValue {
    func list(_ soup: Soup, columns: Bool) -> JSONValue {
      .array(
        zip(soup.specs, soup.columnNames).map { spec, column in
          var object: JSONObject = [
            "path": .string(spec.path), "type": .string(spec.type.rawValue),
          ]
          if columns { object["columnName"] = .string(column) }
          return .object(object)
        })
    }
    return [
      "soupName": .string(old.name), "soupTableName": .string(old.table),
      "oldIndexSpecs": list(old, columns: true), "newIndexSpecs": list(new, columns: false),
      "reIndexData": .bool(reIndexData),
    ]
  }

  /// Parses a row; nil if no SDK writes such a row for this soup.
  ///
  /// The names in it become part of SQL, so they are generated again and must match.
  init?(platform: Platform, type: String, details: String, status: String, number: Int64) {
    guard type == Self.type(on: platform), let step = Step(status: status, platform: platform),
      let details = try? JSONValue(parsing: details), let name = details["soupName"]?.string,
      details["soupTableName"]?.string == SchemaSQL.table(number),
      let oldSpecs = Self.specs(details["oldIndexSpecs"]),
      let newSpecs = Self.specs(details["newIndexSpecs"])
    else { return nil }
    let flag = details["reIndexData"]
    self.init(
      platform: platform, old: Soup(name: name, number: number, specs: oldSpecs),
      specs: newSpecs, reIndexData: flag == .bool(true) || flag?.int == 1, lastStep: step)
  }

  private static func specs(_ list: JSONValue?) -> [IndexSpec]? {
    guard let elements = list?.array, !elements.isEmpty else { return nil }
    var specs: [IndexSpec] = []
    for element in elements {
      guard let path = element["path"]?.string,
        let type = element["type"]?.string.flatMap(IndexType.init)
      else { return nil }
      specs.append(IndexSpec(path: path, type: type))
    }
    return specs
  }
}
