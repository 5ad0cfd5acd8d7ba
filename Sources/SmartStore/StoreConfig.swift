import JSON

/// The soups of a store, as `userstore.json` and `globalstore.json` list them.
///
/// ```swift
/// let config = StoreConfig(soups: [
///   StoreConfig.Soup(soupName: "accounts", indexes: [IndexSpec(path: "Id", type: .string)])
/// ])
/// ```
public struct StoreConfig: Sendable, Hashable {
  /// A soup to register.
  public struct Soup: Sendable, Hashable {
    /// The soup's name.
    public let soupName: String
    /// What is indexed, in the order of the file; the order decides the columns.
    public let indexes: [IndexSpec]

    /// A soup and its indexes.
    public init(soupName: String, indexes: [IndexSpec]) {
      self.soupName = soupName
      self.indexes = indexes
    }

    /// The type of the index on `path`; nil when the path is not indexed.
    package func indexType(of path: String) -> IndexType? {
      indexes.first { $0.path == path }?.type
    }
  }

  /// The soups, in the order in which they are registered.
  public let soups: [Soup]

  /// A configuration made in code.
  public init(soups: [Soup]) {
    self.soups = soups
  }

  /// Reads a file in the Mobile SDK's format; throws everything that is wrong with it at once.
  ///
  /// - Parameters:
  ///   - json: The file's bytes.
  ///   - file: The file's name, for the text of problems.
  public init(json: [UInt8], file: String) throws {
    let reader = ConfigurationReader(file: file)
    let config = Self.read(json, reader)
    try reader.finish()
    self = config
  }

  /// Reads a file as far as it can be understood; the problems are the reader's.
  package static func read(_ json: [UInt8], _ reader: ConfigurationReader) -> StoreConfig {
    guard let node = reader.parse(json),
      let root = reader.object(node, known: ["$schema", "soups"], what: "a store file"),
      root.required("soups", "[ … ]") != nil
    else { return StoreConfig(soups: []) }
    var names: [String: Int] = [:]
    return StoreConfig(
      soups: (root.elements("soups") ?? []).compactMap { soup($0, &names, reader) })
  }

  /// The soup of this name.
  package subscript(_ soupName: String) -> Soup? { soups.first { $0.soupName == soupName } }

  /// The configuration as its file has it.
  package var json: JSONValue {
    let soups = soups.map { soup -> JSONValue in
      let indexes = soup.indexes.map { index -> JSONValue in
        ["path": .string(index.path), "type": .string(index.type.rawValue)]
      }
      return ["soupName": .string(soup.soupName), "indexes": .array(indexes)]
    }
    return ["soups": .array(soups)]
  }
}
