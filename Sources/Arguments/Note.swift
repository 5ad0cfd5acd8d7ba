/// A name and what it means, as help pages list exit statuses and environment variables.
package struct Note: Sendable {
  /// What stands on the left.
  package let name: String
  /// What it means.
  package let text: String

  /// A line of a list.
  package init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }
}
