/// What may be the name of an archive's entry.
package enum EntryName {
  /// Bytes of the longest name that is looked at.
  static let longest = 512

  /// Why `name` is refused, as the end of a sentence; nil for a plain relative path.
  ///
  /// No entry is ever written under its own name, so this is a second wall, not the first.
  package static func refusal(_ name: String) -> String? {
    if name.isEmpty { return "is empty" }
    if name.utf8.count > longest { return "is longer than \(longest) bytes" }
    if name.utf8.contains(where: { $0 < 0x20 }) { return "has control characters" }
    // What a name outside ASCII is depends on the reader's locale, and bundles have none.
    if name.utf8.contains(where: { $0 > 0x7E }) { return "is not plain ASCII" }
    if name.utf8.contains(0x5C) { return "has a backslash: \(name)" }
    if name.hasPrefix("/") { return "is an absolute path: \(name)" }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    if let first = parts.first, first.utf8.count == 2, first.utf8.last == 0x3A {
      return "begins with a drive: \(name)"
    }
    for part in parts {
      if part.isEmpty { return "has an empty part: \(name)" }
      if part == "." || part == ".." { return "climbs with \(part): \(name)" }
    }
    return nil
  }

  /// What two names have in common that some file system takes for one.
  static func folded(_ name: String) -> String { name.lowercased() }
}
