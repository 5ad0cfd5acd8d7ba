import Arguments
import JSON
import SmartStore
import System

/// The soups and paths that a Smart SQL statement names in braces.
///
/// Smart SQL itself accepts a path that no element has, with null values. On a command line such a
/// path is a typing error.
enum StoreReferences {
  /// Throws for a brace that is not closed, for a soup that the store does not have, and for a path
  /// that no index and no element of its soup has.
  static func check(_ query: String, in store: Store) throws {
    if let open = unclosed(in: query) {
      throw UsageError(
        "the brace at character \(open.position + 1) is not closed: \"\(open.text)\"",
        hint: "write } after the soup or the path: {soup} or {soup:path}",
        command: "attache store query")
    }
    let soups = try store.soupNames().sorted()
    for reference in references(of: query) {
      guard soups.contains(reference.soup) else {
        throw UsageError(
          "there is no soup \"\(reference.soup)\"", hint: hint(reference.soup, "soups", soups),
          command: "attache store query")
      }
      guard let path = reference.path, !special.contains(path) else { continue }
      let indexes = try store.indexSpecs(of: reference.soup).map(\.path)
      guard !indexes.contains(path), try store.count(of: reference.soup) > 0,
        try !isThere(path, in: reference.soup, of: store)
      else { continue }
      let known = try Set(indexes).union(keys(of: reference.soup, store)).sorted()
      throw UsageError(
        "no element of soup \"\(reference.soup)\" has \"\(path)\"",
        hint: hint(path, "paths", known),
        command: "attache store query")
    }
  }

  private static let special: Set<String> = [
    "_soup", "_soupEntryId", "_soupCreatedDate", "_soupLastModifiedDate",
  ]

  private static func hint(_ word: String, _ what: String, _ known: [String]) -> String {
    let list = known.isEmpty ? "there are none" : "\(what): \(known.joined(separator: ", "))"
    return Spelling.nearest(word, among: known).map { "did you mean \"\($0)\"? \(list)" } ?? list
  }

  /// Returns the first opening brace outside quoted text that is not closed before the next one:
  /// its position, and the text from it to the next white space.
  private static func unclosed(in query: String) -> (position: Int, text: String)? {
    var isQuoted = false
    for (position, index) in query.indices.enumerated() {
      if query[index] == "'" { isQuoted.toggle() }
      guard query[index] == "{", !isQuoted else { continue }
      let end = query[query.index(after: index)...].firstIndex { $0 == "{" || $0 == "}" }
      if let end, query[end] == "}" { continue }
      return (position, String(query[index...].prefix { !$0.isWhitespace }))
    }
    return nil
  }

  /// Returns the references in braces outside quoted text.
  private static func references(of query: String) -> [(soup: String, path: String?)] {
    var found: [(soup: String, path: String?)] = []
    var isQuoted = false
    var rest = query[...]
    while let first = rest.first {
      rest = rest.dropFirst()
      if first == "'" { isQuoted.toggle() }
      guard first == "{", !isQuoted, let end = rest.firstIndex(of: "}") else { continue }
      let parts = rest[..<end].split(separator: ":", omittingEmptySubsequences: false)
      if parts.count <= 2 {
        found.append((String(parts[0]), parts.count == 2 ? String(parts[1]) : nil))
      }
      rest = rest[end...].dropFirst()
    }
    return found
  }

  private static func isThere(
    _ path: String, in soup: String, of store: Store
  ) throws -> Bool {
    // A path with quotation marks is not a JSON path of SQLite; the statement itself refuses it.
    guard !path.contains("'"), !path.contains("\"") else { return true }
    var isThere = false
    let type = "json_type({\(soup):_soup}, '$.\(path)')"
    try store.forEachRow(
      ofSmartSQL: "SELECT 1 FROM {\(soup)} WHERE \(type) IS NOT NULL LIMIT 1"
    ) { _, _ in isThere = true }
    return isThere
  }

  /// The members of the first elements.
  private static func keys(of soup: String, _ store: Store) throws -> Set<String> {
    var keys: Set<String> = []
    let query = "SELECT {\(soup):_soup} FROM {\(soup)} LIMIT 100"
    try store.forEachRow(ofSmartSQL: query) { _, values in
      for (name, _) in values.first?.object ?? [:] { keys.insert(name) }
    }
    return keys
  }
}
