/// The rules for the name of an archive entry.
package enum EntryName {
  /// The maximum length of a name in bytes.
  static let longest = 512
  /// The maximum length of a path component in bytes, the usual limit of file systems.
  static let longestPart = 255

  /// The reason `name` is rejected, as the end of a sentence; nil for a plain relative path.
  ///
  /// Writer and reader share this rule, so that every written archive can be read. Letters of any
  /// language are allowed.
  package static func refusal(_ name: String) -> String? {
    if name.isEmpty { return "is empty" }
    if name.utf8.count > longest { return "is longer than \(longest) bytes" }
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control: return "has control characters"
      // Persian words and many emoji need the two joiners.
      case .format where !["\u{200C}", "\u{200D}"].contains(scalar),
        .lineSeparator, .paragraphSeparator:
        return "has invisible characters"
      default: continue
      }
    }
    if name.utf8.contains(0x5C) { return "has a backslash: \(name)" }
    if name.hasPrefix("/") { return "is an absolute path: \(name)" }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    if let first = parts.first, first.utf8.count == 2, first.utf8.last == 0x3A {
      return "starts with a drive letter: \(name)"
    }
    for part in parts {
      if part.isEmpty { return "has an empty component: \(name)" }
      if part.utf8.count > longestPart { return "has a component longer than \(longestPart) bytes" }
      if part == "." || part == ".." { return "contains \(part): \(name)" }
    }
    return nil
  }

  /// The form that is equal for two names that some file system takes for the same one.
  static func folded(_ name: String) -> String { name.lowercased() }
}
