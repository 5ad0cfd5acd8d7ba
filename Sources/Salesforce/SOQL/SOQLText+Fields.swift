// The fields in a query, as far as they can be determined without the org: functions, subqueries
// and TYPEOF are skipped.
extension SOQLText {
  /// The fields of the select list, each a name or a path such as `Account.Owner.Name`.
  package var readPaths: [String] { selectedFields.compactMap(path) }

  /// The entries of the select list that are plain fields followed by another word.
  package var aliasedFields: [String] {
    selectedFields.filter { entry in
      let words = entry.split(separator: " ")
      return words.count > 1 && words[0].lowercased() != "typeof"
        && words.allSatisfy { path(String($0)) != nil }
    }
  }

  /// The fields in comparisons.
  package var filteredPaths: [String] {
    Self.compared(self[.where] ?? "").compactMap(path)
  }

  /// The fields that the result is ordered by.
  package var orderedPaths: [String] {
    (self[.orderBy] ?? "").split(separator: ",").compactMap { entry in
      entry.split(separator: " ").first.flatMap { path(String($0)) }
    }
  }

  /// An entry without the object's own name or alias before it; nil if it is not a plain field.
  private func path(_ entry: String) -> String? {
    var steps = entry.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard steps.allSatisfy(APIName.isValid) else { return nil }
    let own = (self[.from] ?? "").split { $0 == " " || $0 == "," }.prefix(3).map { $0.lowercased() }
    if steps.count > 1, own.contains(steps[0].lowercased()) { steps.removeFirst() }
    return steps.joined(separator: ".")
  }

  private static let comparisons: Set<String> = ["like", "in", "includes", "excludes"]
  private static let connectors: Set<String> = ["and", "or", "not"]

  /// The operands before a comparison, also in groups.
  ///
  /// A subquery belongs to another object.
  private static func compared(_ text: String) -> [String] {
    let pieces = SOQLTokens.tokenize(text).filter { !SOQLTokens.isSpace($0) }.flatMap(parts)
    var found: [String] = []
    for (place, piece) in pieces.enumerated() {
      let before = place > 0 ? pieces[place - 1].lowercased() : ""
      if piece.hasPrefix("(") {
        let inner = String(piece.dropFirst().dropLast())
        // After a name, a parenthesis opens a function's argument; after IN, a list.
        let isGroup = before.isEmpty || connectors.contains(before) || before.hasPrefix("(")
        if isGroup { found += compared(inner) }
        continue
      }
      let next = pieces[min(place + 1, pieces.count)...].prefix(2).map { $0.lowercased() }
      guard let first = next.first else { continue }
      let isCompared =
        isOperator(first) || comparisons.contains(first)
        || (first == "not" && next.last == "in")
      if isCompared, !piece.hasPrefix("'"), !isOperator(piece.lowercased()) { found.append(piece) }
    }
    return found
  }

  private static func isOperator(_ piece: String) -> Bool {
    !piece.isEmpty && piece.allSatisfy { "=!<>".contains($0) }
  }

  /// A token split where an operator starts or ends: `Size>=10` has three parts.
  private static func parts(_ token: String) -> [String] {
    if token.hasPrefix("(") || token.hasPrefix("'") { return [token] }
    var parts: [String] = []
    for character in token {
      let isOperator = "=!<>".contains(character)
      if let last = parts.last, self.isOperator(last) == isOperator {
        parts[parts.count - 1].append(character)
      } else {
        parts.append(String(character))
      }
    }
    return parts
  }
}
