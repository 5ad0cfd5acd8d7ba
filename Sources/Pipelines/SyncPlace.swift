import JSON
import MobileSync

/// The location of a sync in its file.
struct SyncPlace {
  /// The file as the user named it.
  let file: String
  /// The sync's definition in the file.
  let sync: JSONNode?
  let syncName: String

  /// Returns the problem of an unmet need, located at the word that names it.
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

  /// Returns the offset of a word of a query behind the opening quote; 0 if the file may write an
  /// earlier character as an escape.
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

  /// Returns the value that the keys lead to, as far as they exist; in a list, the entry that is
  /// the field.
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
