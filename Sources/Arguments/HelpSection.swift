/// A part of the list of commands on the first help page.
package struct HelpSection: Sendable {
  /// What its commands have in common.
  package let title: String
  /// Names of commands in the order of the page; a group's name means all its commands.
  package let names: [String]

  /// Creates a section.
  package init(_ title: String, _ names: [String]) {
    self.title = title
    self.names = names
  }
}
