/// A name and its meaning, as help pages list exit statuses and environment variables.
package struct Note: Sendable {
  /// The name, shown on the left.
  package let name: String
  /// The meaning.
  package let text: String

  package init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }
}
