/// A list of patterns in a file of allowed signers, separated by commas.
///
/// `*` stands for any text and `?` for one byte. A name that matches a pattern after `!` is
/// excluded.
struct NamePattern: Sendable, Hashable {
  let text: String

  /// Whether a name matches the list.
  func matches(_ name: String) -> Bool {
    var isMatched = false
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let isExcluded = part.hasPrefix("!")
      let pattern = Array((isExcluded ? part.dropFirst() : part).utf8)
      guard Self.matches(pattern, Array(name.utf8)) else { continue }
      if isExcluded { return false }
      isMatched = true
    }
    return isMatched
  }

  private static func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
    var (at, position) = (0, 0)
    // The last star, and the position in the name up to which it stands for.
    var star: (at: Int, position: Int)?
    while position < name.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        star = (at, position)
        at += 1
      } else if at < pattern.count,
        pattern[at] == UInt8(ascii: "?") || pattern[at] == name[position]
      {
        (at, position) = (at + 1, position + 1)
      } else if let last = star {
        star = (last.at, last.position + 1)
        (at, position) = (last.at + 1, last.position + 1)
      } else {
        return false
      }
    }
    return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
