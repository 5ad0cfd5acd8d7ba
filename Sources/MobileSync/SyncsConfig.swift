import JSON
import SmartStore
import System

/// The syncs of a store, as `usersyncs.json` and `globalsyncs.json` list them.
///
/// ```swift
/// let made = try await manager.setUpSyncs(
///   from: SyncsConfig(json: Array(syncs.utf8), file: "usersyncs.json"))
/// ```
public struct SyncsConfig: Sendable {
  /// The syncs, in the order of the file.
  public let syncs: [SyncDefinition]
  /// Where each sync names its soup, for problems found in combination with another file.
  let places: [String: JSONNode]
  /// The definition of each sync in its file, for problems found in the org.
  let definitions: [String: JSONNode]

  /// Creates a configuration in code.
  public init(syncs: [SyncDefinition]) {
    self.init(syncs: syncs, places: [:], definitions: [:])
  }

  init(
    syncs: [SyncDefinition], places: [String: JSONNode], definitions: [String: JSONNode]
  ) {
    self.syncs = syncs
    self.places = places
    self.definitions = definitions
  }

  /// Reads a file in the Mobile SDK's format; throws all its problems at once.
  ///
  /// - Parameters:
  ///   - json: The file's bytes.
  ///   - file: The file's name, for error messages.
  public init(json: [UInt8], file: String) throws {
    let reader = ConfigurationReader(file: file)
    let config = Self.read(json, reader)
    try reader.finish()
    self = config
  }

  /// Whether the file names this sync, even if its definition is invalid.
  package func declares(_ syncName: String) -> Bool { places[syncName] != nil }

  /// The location where the file defines the sync; nil if it was created in code.
  package func definition(of syncName: String) -> JSONNode? { definitions[syncName] }

  /// The sync with this name.
  public subscript(_ syncName: String) -> SyncDefinition? {
    syncs.first { $0.syncName == syncName }
  }

  /// The configuration as written in a file, with the defaults that a device stores.
  package var json: JSONValue {
    .object(["syncs": .array(syncs.map(\.json))])
  }

  /// Reports problems between these syncs and the soups of their store.
  ///
  /// - Parameter storeFile: The store file's name, for the proposed fix.
  package func check(against store: StoreConfig, storeFile: String, _ reader: ConfigurationReader) {
    let names = store.soups.map(\.soupName)
    // Each missing index of a soup is reported once, however many syncs need it.
    var said: Set<String> = []
    let edited = Set(syncs.filter { $0.syncType == .syncUp }.flatMap(\.soups).map(\.soupName))
    for sync in syncs {
      if let problem = (sync.target.kind as? SyncUpTarget)?.idProblem {
        let node = places[sync.syncName]?["target"]
        let named = [node?["parent"], node?["children"], node]
          .compactMap { $0?["idFieldName"] }.first { $0.string == problem.field }
        reader.add(
          named?.line ?? sync.line, named?.column ?? sync.column, named?.path ?? "",
          problem.message, problem.fix)
      }
      func report(_ soup: String, _ message: String, _ fix: String) {
        guard said.insert(message).inserted else { return }
        let node = places[sync.syncName].map { $0.naming(soup: soup) ?? $0["soupName"] ?? $0 }
        reader.add(
          node?.line ?? sync.line, node?.column ?? sync.column, node?.path ?? "", message, fix)
      }
      for use in sync.soups {
        if sync.syncType == .syncDown, edited.contains(use.soupName), !sync.fetchesID(use) {
          report(
            use.soupName,
            "the sync \(JSONText.quoted(sync.syncName)) does not select Id, but a sync up sends the "
              + "edits of \(JSONText.quoted(use.soupName)), and the org updates and deletes records by Id",
            "select Id as well")
        }
        guard let soup = store[use.soupName] else {
          let nearest = Spelling.nearest(use.soupName, among: names)
          report(
            use.soupName,
            "the sync \(JSONText.quoted(sync.syncName)) uses the soup "
              + "\(JSONText.quoted(use.soupName)), which is not in \(storeFile)",
            nearest.map { "did you mean \(JSONText.quoted($0))?" }
              ?? "add the soup to \(storeFile), or name one of "
              + names.map(JSONText.quoted).joined(separator: ", "))
          continue
        }
        for problem in use.problems(in: soup, storeFile: storeFile) {
          report(use.soupName, problem.message, problem.fix)
        }
      }
    }
  }
}

extension JSONNode {
  /// The node in which a sync names a soup: its own soup, or the soup of an object or of children.
  fileprivate func naming(soup: String) -> JSONNode? {
    for member in members ?? [] {
      if member.name.lowercased().hasSuffix("soupname"), member.value.string == soup {
        return member.value
      }
      if let found = member.value.naming(soup: soup) { return found }
    }
    return (array ?? []).lazy.compactMap { $0.naming(soup: soup) }.first
  }
}

extension SyncDefinition {
  /// Whether the records that a sync down stores in a soup have an Id, as far as the fields are
  /// known.
  fileprivate func fetchesID(_ use: SoupUse) -> Bool {
    let names = fieldNames(of: use.soupName).map { $0.lowercased() }
    return use.paths.contains("Id") || names.isEmpty || names.contains("id")
      || target.kind.queries.contains { $0.lowercased().contains("fields(") }
  }
}

extension SoupUse {
  fileprivate func problems(
    in soup: StoreConfig.Soup, storeFile: String
  ) -> [(message: String, fix: String)] {
    let name = JSONText.quoted(soupName)
    let needed = paths + (isEdited ? ["__local__"] : [])
    return needed.compactMap { path in
      let spec = "{\"path\": \(JSONText.quoted(path)), \"type\": \"string\"}"
      let reason =
        path == "__local__"
        ? "a device finds its edits by this path" : "records are looked up by this path"
      switch soup.indexType(of: path) {
      case .string?: return nil
      // The check of the store file has already reported this.
      case _? where path == "__local__": return nil
      case .json1?, .fullText?: return nil
      case .integer?, .floating?:
        return (
          "the soup \(name) indexes \(path) as a number, but IDs are text",
          "write \(spec) in \(storeFile)"
        )
      case nil:
        return (
          "the soup \(name) has no index on \(path): \(reason)",
          "add \(spec) to its indexes in \(storeFile)"
        )
      }
    }
  }
}
