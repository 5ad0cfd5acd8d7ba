/// The first lines of many items of one kind, for a terminal.
///
/// `--json` has all.
enum ShortList {
  /// The maximum number of items shown of one kind.
  private static let most = 20

  /// Returns the lines of the first items, and one that counts the rest.
  ///
  /// `indent` precedes that line, and `verb` follows its number.
  static func lines<T>(
    _ things: [T], indent: String = "", verb: String = "", _ words: (T) -> [String]
  ) -> [String] {
    let more = things.count - most
    let rest = more > 0 ? ["\(indent)and \(more) more\(verb); --json lists them"] : []
    return things.prefix(most).flatMap(words) + rest
  }
}
