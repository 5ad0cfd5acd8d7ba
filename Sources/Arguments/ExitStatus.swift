/// The number a program ends with.
package struct ExitStatus: RawRepresentable, Sendable, Hashable {
  /// The number itself.
  package let rawValue: Int32

  /// A status by its number; the program names its own.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Everything was done.
  package static let done = ExitStatus(rawValue: 0)
  /// The words on the command line were wrong.
  package static let usage = ExitStatus(rawValue: 2)
}

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
