/// What may be the name of an archive's entry.
package enum EntryName {
  /// Bytes of the longest name that is looked at.
  static let longest = 512
  /// Bytes of the longest part of a path: what file systems take.
  static let longestPart = 255

  /// Why `name` is refused, as the end of a sentence; nil for a plain relative path.
  ///
  /// Writing and reading ask the same, so that what is written can be read. Letters of any language are plain.
  package static func refusal(_ name: String) -> String? {
    if name.isEmpty { return "is empty" }
    if name.utf8.count > longest { return "is longer than \(longest) bytes" }
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control: return "has control characters"
      // Words of Persian and many pictures need the two joiners.
      case .format where !["\u{200C}", "\u{200D}"].contains(scalar),
        .lineSeparator, .paragraphSeparator:
        return "has characters that are not shown"
      default: continue
      }
    }
    if name.utf8.contains(0x5C) { return "has a backslash: \(name)" }
    if name.hasPrefix("/") { return "is an absolute path: \(name)" }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    if let first = parts.first, first.utf8.count == 2, first.utf8.last == 0x3A {
      return "begins with a drive: \(name)"
    }
    for part in parts {
      if part.isEmpty { return "has an empty part: \(name)" }
      if part.utf8.count > longestPart { return "has a part longer than \(longestPart) bytes" }
      if part == "." || part == ".." { return "climbs with \(part): \(name)" }
    }
    return nil
  }

  /// What two names have in common that some file system takes for one.
  static func folded(_ name: String) -> String { name.lowercased() }
}
