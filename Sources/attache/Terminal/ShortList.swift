/// The first lines of many of one sort, as a terminal shows them; `--json` has them all.
enum ShortList {
  /// So many of one sort are shown.
  private static let most = 20

  /// A line or more for each of the first things, and one that counts the others; `indent` stands before it,
  /// `verb` behind its number.
  static func lines<T>(
    _ things: [T], indent: String = "", verb: String = "", _ words: (T) -> [String]
  ) -> [String] {
    let more = things.count - most
    let rest = more > 0 ? ["\(indent)and \(more) more\(verb); --json lists them"] : []
    return things.prefix(most).flatMap(words) + rest
  }
}
