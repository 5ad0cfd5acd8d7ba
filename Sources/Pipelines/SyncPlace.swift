import JSON
import MobileSync

/// A sync in its file.
struct SyncPlace {
  /// The file as the user named it.
  let file: String
  /// The sync's definition there.
  let sync: JSONNode?
  let syncName: String

  /// What is wrong with a need of the sync, at the word that names it.
  func problem(at need: OrgNeed, _ words: Preflight.Words) -> Problem {
    let found = node(at: need)
    var column = found?.column ?? 0
    if let word = need.field ?? Optional(need.sobject), let text = found?.string, text != word {
      column += Self.offset(of: word, in: text, isLast: need.use == .filter)
    }
    return Problem(
      file: file, line: found?.line ?? 0, column: column, path: found?.path ?? syncName,
      message: words.message, fix: words.fix)
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
    guard var node = sync else { return nil }
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
