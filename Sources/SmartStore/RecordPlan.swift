import JSON
import SQLite

/// The members of a downloaded record that the loader looks for, and the slots of their positions.
struct RecordPlan {
  /// The slots of the scanner that every plan has.
  static let id = 0
  static let modification = 1
  private static let replaced = 2..<(2 + SyncField.replaced.count)

  let options: BulkLoader.Options
  let scanner: RecordScanner
  private let slots: [String: Int]

  init(_ options: BulkLoader.Options, soups: [Soup]) {
    self.options = options
    var paths = [options.idPath, options.modificationPath] + SyncField.replaced
    var slots = [options.idPath: Self.id, options.modificationPath: Self.modification]
    for spec in soups.flatMap(\.specs) where spec.type != .json1 && slots[spec.path] == nil {
      slots[spec.path] = paths.count
      paths.append(spec.path)
    }
    self.slots = slots
    scanner = RecordScanner(paths: paths)
  }

  /// Whether a record has a member with a reserved name.
  @inline(__always)
  static func hasReplaced(_ fields: UnsafeBufferPointer<JSONSpan>) -> Bool {
    for slot in replaced where fields[slot].kind != .missing { return true }
    return false
  }

  /// The source of a column's value.
  enum Source {
    /// The same value for every record of the load.
    case constant(SQLiteValue)
    /// The ID of the row.
    case soupEntryID
    /// A member of the record.
    case field(Int)
  }

  /// A column of a destination's soup and the source of its value.
  struct Cell {
    let column: Soup.Column
    let source: Source
    let type: IndexType
  }

  /// The columns of a soup on a platform.
  func cells(of soup: Soup, on platform: Platform) -> [Cell] {
    soup.columns.map { column in
      Cell(column: column, source: source(column.spec, platform), type: column.spec.type)
    }
  }

  private func source(_ spec: IndexSpec, _ platform: Platform) -> Source {
    switch spec.path {
    case SyncField.local, SyncField.locallyCreated, SyncField.locallyUpdated,
      SyncField.locallyDeleted:
      return .constant(IndexValue.bound(.bool(false), type: spec.type, platform: platform))
    case SyncField.syncID:
      let value = options.syncID.map { JSONValue.number(String($0)) }
      return .constant(IndexValue.bound(value, type: spec.type, platform: platform))
    case StoreField.soupEntryID:
      // iOS projects before it adds the member.
      return platform == .ios ? .constant(.null) : .soupEntryID
    case StoreField.lastModified:
      let value: JSONValue? = platform == .ios ? nil : .number(String(options.now))
      return .constant(IndexValue.bound(value, type: spec.type, platform: platform))
    case let path:
      let first = path.prefix { $0 != "." }
      if SyncField.replaced.contains(String(first)) { return .constant(.null) }
      return slots[path].map(Source.field) ?? .constant(.null)
    }
  }
}
