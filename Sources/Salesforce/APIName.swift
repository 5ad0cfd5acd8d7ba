/// The API names of sObjects and their fields.
package enum APIName {
  /// Whether a text is a valid name: letters, digits and underscores, a letter first, at most 80
  /// characters.
  package static func isValid(_ text: String) -> Bool {
    guard let first = text.first, first.isASCII, first.isLetter, text.utf8.count <= 80 else {
      return false
    }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
  }
}
