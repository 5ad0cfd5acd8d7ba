/// A soup as described by the meta tables.
package struct Soup: Sendable, Hashable {
  /// The column of an index spec.
  package struct Column: Sendable, Hashable {
    /// The index in the list of specs.
    let position: Int
    package let spec: IndexSpec
    package let name: String
  }

  let name: String
  /// `soup_attrs.id`, from which the names of the tables are formed.
  let number: Int64
  package let specs: [IndexSpec]
  /// `soup_index_map.columnName`, in the order of the specs.
  package let columnNames: [String]
  /// The specs that have a column; json1 has none.
  package let columns: [Column]

  init(name: String, number: Int64, specs: [IndexSpec]) {
    let table = SchemaSQL.table(number)
    self.init(
      name: name, number: number, specs: specs,
      columnNames: specs.enumerated().map { SchemaSQL.column(table, $0.offset, $0.element) })
  }

  init(name: String, number: Int64, specs: [IndexSpec], columnNames: [String]) {
    self.name = name
    self.number = number
    self.specs = specs
    self.columnNames = columnNames
    columns = zip(specs, columnNames).enumerated().compactMap { position, pair in
      pair.0.type == .json1 ? nil : Column(position: position, spec: pair.0, name: pair.1)
    }
  }

  package var table: String { SchemaSQL.table(number) }
  package var fullTextTable: String { table + "_fts" }
  package var fullTextColumns: [Column] { columns.filter { $0.spec.type == .fullText } }
  package var hasFullText: Bool { columns.contains { $0.spec.type == .fullText } }

  /// The position of the index that queries use for a path.
  ///
  /// If there are two, the last on iOS, the first on Android.
  func position(of path: String, on platform: Platform) -> Int? {
    switch platform {
    case .ios: specs.lastIndex { $0.path == path }
    case .android: specs.firstIndex { $0.path == path }
    }
  }

  /// The column or expression of an indexed path.
  func column(of path: String, on platform: Platform) -> String? {
    position(of: path, on: platform).map { columnNames[$0] }
  }

  /// The expression for any path in a query: indexed, special, or a member of the element.
  func expression(for path: String, on platform: Platform) -> String {
    switch path {
    case StoreField.soupEntryID: "id"
    case StoreField.created: "created"
    case StoreField.lastModified: "lastModified"
    case StoreField.element: "soup"
    default: column(of: path, on: platform) ?? SchemaSQL.extract(path)
    }
  }
}

/// The paths with a special meaning in SmartStore.
package enum StoreField {
  /// The whole element.
  package static let element = "_soup"
  /// The row's ID, also a member of the element.
  package static let soupEntryID = "_soupEntryId"
  /// The row's last change in milliseconds, also a member of the element.
  package static let lastModified = "_soupLastModifiedDate"
  /// The row's creation time in milliseconds; never a member of the element.
  package static let created = "_soupCreatedDate"
}
