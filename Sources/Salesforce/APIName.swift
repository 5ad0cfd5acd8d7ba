/// The names that an org has for its sObjects and their fields.
package enum APIName {
  /// Says whether a text can be one: letters, digits and underscores, a letter first, at most 80.
  package static func isValid(_ text: String) -> Bool {
    guard let first = text.first, first.isASCII, first.isLetter, text.utf8.count <= 80 else {
      return false
    }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
  }
}
