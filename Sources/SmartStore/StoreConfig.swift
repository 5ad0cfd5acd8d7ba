import JSON

/// The soups of a store, as listed in `userstore.json` and `globalstore.json`.
///
/// ```swift
/// let config = StoreConfig(soups: [
///   StoreConfig.Soup(soupName: "accounts", indexes: [IndexSpec(path: "Id", type: .string)])
/// ])
/// ```
public struct StoreConfig: Sendable, Hashable {
  /// A soup to register.
  public struct Soup: Sendable, Hashable {
    /// The name of the soup.
    public let soupName: String
    /// The indexes in the order of the file, which determines the columns.
    public let indexes: [IndexSpec]

    /// Creates a soup with its indexes.
    public init(soupName: String, indexes: [IndexSpec]) {
      self.soupName = soupName
      self.indexes = indexes
    }

    /// The type of the index on `path`; nil if the path is not indexed.
    package func indexType(of path: String) -> IndexType? {
      indexes.first { $0.path == path }?.type
    }
  }

  /// The soups, in the order of registration.
  public let soups: [Soup]

  /// Creates a configuration in code.
  public init(soups: [Soup]) {
    self.soups = soups
  }

  /// Parses a file in the Mobile SDK's format; throws all problems at once.
  ///
  /// - Parameters:
  ///   - json: The content of the file.
  ///   - file: The name of the file, for the text of problems.
  public init(json: [UInt8], file: String) throws {
    let reader = ConfigurationReader(file: file)
    let config = Self.read(json, reader)
    try reader.finish()
    self = config
  }

  /// Parses a file as far as it can be understood; the reader collects the problems.
  package static func read(_ json: [UInt8], _ reader: ConfigurationReader) -> StoreConfig {
    guard let node = reader.parse(json) else { return StoreConfig(soups: []) }
    if reader.isOther(node, than: .store) { return StoreConfig(soups: []) }
    guard let root = reader.object(node, known: ["$schema", "soups"], what: "a store file"),
      root.required("soups", "[ … ]") != nil
    else { return StoreConfig(soups: []) }
    var names: [String: Int] = [:]
    return StoreConfig(
      soups: (root.elements("soups") ?? []).compactMap { soup($0, &names, reader) })
  }

  /// The soup with this name.
  package subscript(_ soupName: String) -> Soup? { soups.first { $0.soupName == soupName } }

  /// The configuration in the format of its file.
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
