/// Smart SQL and its translation: `{soup:path}` becomes a column or an expression.
package struct SmartSQL {
  /// The original Smart SQL.
  let text: String

  package init(text: String) {
    self.text = text
  }

  /// Translates to SQL; `soup` returns a registered soup.
  ///
  /// References in single-quoted text are not replaced, except in the text of a MATCH. Quotes are
  /// counted; the SDKs' pattern fails for an odd number.
  package func translated(
    for platform: Platform, soup: (String) throws -> Soup?
  ) throws -> String {
    try refuseChanges()
    var translation = Translation(platform: platform)
    let scalars = Array(text.unicodeScalars)
    var position = 0
    var inside = false
    var insideMatch = false
    while position < scalars.count {
      let scalar = scalars[position]
      if scalar == "'" {
        insideMatch = !inside && translation.endsInMatch
        inside.toggle()
      }
      if scalar == "{", !inside || insideMatch,
        let end = scalars[position...].firstIndex(of: "}"), end > position + 1
      {
        var reference = ""
        reference.unicodeScalars.append(contentsOf: scalars[(position + 1)..<end])
        try translation.append(reference, at: position, soup: soup)
        position = end + 1
      } else {
        translation.output.unicodeScalars.append(scalar)
        position += 1
      }
    }
    return translation.output
  }

  private func refuseChanges() throws {
    let start = text.drop { $0.isWhitespace }.prefix(6).lowercased()
    for word in ["insert", "update", "delete"] where start == word {
      throw StoreError.notSelect(text)
    }
  }

  private struct Translation {
    let platform: Platform
    var output = ""

    init(platform: Platform) { self.platform = platform }

    /// Whether the text of a MATCH follows, separated from the keyword by one or more spaces.
    var endsInMatch: Bool {
      guard output.utf8.last == 0x20 else { return false }
      return output.reversed().drop { $0 == " " }.starts(with: "HCTAM")
    }

    mutating func append(
      _ reference: String, at position: Int, soup find: (String) throws -> Soup?
    ) throws {
      let parts = reference.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count <= 2 else {
        throw StoreError.invalidReference(
          reference, position: position, reason: "invalid soup/path reference, write {soup:path}")
      }
      guard let soup = try find(parts[0]) else {
        throw StoreError.invalidReference(
          reference, position: position, reason: "unknown soup \"\(parts[0])\"")
      }
      guard parts.count == 2 else {
        output += soup.table
        return
      }
      let expression = soup.expression(for: parts[1], on: platform)
      if Self.special.contains(parts[1]) {
        output += output.last == "." ? expression : "\(soup.table).\(expression)"
      } else if expression.hasPrefix(Self.extract), let qualifier = takeQualifier() {
        output += "json_extract(\(qualifier)." + expression.dropFirst("json_extract(".count)
      } else {
        output += expression
      }
    }

    private static let special: Set<String> = [
      StoreField.element, StoreField.soupEntryID, StoreField.created, StoreField.lastModified,
    ]
    private static let extract = "json_extract(soup"

    /// Removes `alias.` from the end of the output, as it moves inside the call.
    private mutating func takeQualifier() -> String? {
      guard output.hasSuffix(".") else { return nil }
      let name = output.dropLast().reversed().prefix {
        $0.isLetter || $0.isNumber || $0 == "_"
      }
      guard !name.isEmpty else { return nil }
      output.removeLast(name.count + 1)
      return String(name.reversed())
    }
  }
}
