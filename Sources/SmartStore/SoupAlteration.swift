import JSON
import SQLite

/// A change of a soup's indexes, as the SDKs carry it out: in steps that `long_operations_status`
/// remembers, so that one that was interrupted goes on when the store is opened again.
package struct SoupAlteration {
  /// What is said of a row of the table that names none.
  static let unknownText = "holds a change that no SDK makes"
  /// What to do about one that was interrupted.
  static let interruptedFix = "open the store in its app once, or let attache ingest it"

  /// The last step that was done.
  package enum Step: Int, CaseIterable, Comparable {
    case starting, renameOldSoupTable, dropOldIndexes, registerSoupUsingTableName, copyTable
    case reIndexSoup, dropOldTable
    /// Only iOS has it: the row of the operation goes.
    case cleanup

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// What stands in `status`: iOS writes the number, Android the name.
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

    /// The step whose end removes the row.
    package static func last(on platform: Platform) -> Self {
      platform == .ios ? .cleanup : .dropOldTable
    }
  }

  let platform: Platform
  /// The soup as it was.
  let old: Soup
  /// The soup as it becomes, under the same number.
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

  /// What stands in `type`.
  static func type(on platform: Platform) -> String {
    platform == .ios ? "AlterSoup" : "alterSoup"
  }

  /// The name of the old table while there are two.
  var oldTable: String { old.table + "_old" }

  /// The name of the old full-text table while there are two.
  var oldFullTextTable: String {
    platform == .ios ? old.fullTextTable + "_old" : oldTable + "_fts"
  }

  /// The columns that are copied, old expression beside new column.
  ///
  /// A path keeps its column where both types have the same SQL type; Android also reads a json1
  /// index as a value, iOS does not.
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

  /// The paths whose pair of path and type is new.
  var changedPaths: [String] {
    let known = Set(old.specs)
    return new.specs.filter { !known.contains($0) }.map(\.path)
  }

  // MARK: the row

  /// What stands in `details`.
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

  /// Reads a row; nil where it is none that an SDK writes for this soup.
  ///
  /// The names in it go into SQL: they are made anew, and what was written must be the same.
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
