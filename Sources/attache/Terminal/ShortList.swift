/// The first lines of many items of one kind, for a terminal.
///
/// `--json` has all.
enum ShortList {
  /// The maximum number of items shown of one kind.
  private static let most = 20

  /// Returns the lines of the first items, and one that counts the rest.
  ///
  /// `indent` precedes that line, and `verb`, the form for one and for several, follows its number.
  static func lines<T>(
    _ things: [T], indent: String = "", verb: (one: String, many: String)? = nil,
    _ words: (T) -> [String]
  ) -> [String] {
    let more = things.count - most
    let form = verb.map { " " + (more == 1 ? $0.one : $0.many) } ?? ""
    let rest = more > 0 ? ["\(indent)and \(more) more\(form); --json lists all"] : []
    return things.prefix(most).flatMap(words) + rest
  }
}
