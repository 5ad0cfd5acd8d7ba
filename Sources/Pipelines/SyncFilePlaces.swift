import JSON
import MobileSync
import System

/// Where words stand in a sync file, read once more for the lines and columns of what the org has not.
struct SyncFilePlaces: Sendable {
  /// The file as the user named it.
  let file: String
  private let syncs: [JSONNode]

  /// The places of a store's sync file; without places where the file cannot be read any more.
  init(_ store: StoreSettings) {
    file = store.syncsFile
    let node = (try? Files.read(store.syncsFile)).flatMap { JSONNode.read($0).node }
    syncs = node?["syncs"]?.array ?? []
  }

  /// The definition of a sync.
  func definition(_ syncName: String) -> JSONNode? {
    syncs.first { $0["syncName"]?.string == syncName }
  }
}

/// A sync in its file.
struct SyncPlace {
  let file: SyncFilePlaces
  let syncName: String

  /// A fault of what the sync needs, at the word that names it.
  func problem(at need: OrgNeed, _ fault: Preflight.Fault) -> Problem {
    let found = node(at: need)
    var column = found?.column ?? 0
    if let word = need.field ?? Optional(need.sobject), let text = found?.string, text != word {
      column += Self.offset(of: word, in: text, isLast: need.use == .filter)
    }
    return Problem(
      file: file.file, line: found?.line ?? 0, column: column, path: found?.path ?? syncName,
      message: fault.message, fix: fault.fix)
  }

  /// How far behind its quote a word of a query stands; 0 where the file may write a character before it
  /// otherwise than it is.
  private static func offset(of word: String, in text: String, isLast: Bool) -> Int {
    let isPart: (Character) -> Bool = { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    let whole = text.ranges(of: word).filter { range in
      let before = text[..<range.lowerBound].last
      let after = text[range.upperBound...].first
      return before.map(isPart) != true && after.map(isPart) != true
    }
    guard let range = isLast ? whole.last : whole.first else { return 0 }
    let before = text[..<range.lowerBound]
    let isPlain = before.allSatisfy { !"\"\\/".contains($0) && !$0.isNewline && $0 != "\t" }
    return isPlain ? 1 + before.count : 0
  }

  /// The value that the keys lead to, as far as they lead; in a list the entry that is the field.
  private func node(at need: OrgNeed) -> JSONNode? {
    guard var node = file.definition(syncName) else { return nil }
    for key in need.keys {
      guard
        let next = Int(key).flatMap({ place in node.array.flatMap { $0[at: place] } }) ?? node[key]
      else { return node }
      node = next
    }
    if let entry = node.array?.first(where: { $0.string == need.field }) { return entry }
    return node
  }
}

extension Array {
  fileprivate subscript(at index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
