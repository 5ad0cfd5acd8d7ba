/// A part of the list of commands on the first help page.
package struct HelpSection: Sendable {
  /// What its commands have in common.
  package let title: String
  /// Names of commands in the order of the page; the first word of a group stands for all its commands.
  package let names: [String]

  /// A part of the list.
  package init(_ title: String, _ names: [String]) {
    self.title = title
    self.names = names
  }
}
