/// Counts in messages.
package enum CountText {
  /// A number followed by its noun in singular or plural: "1 edit", "2 edits".
  package static func of(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// A counted noun followed by the verb that agrees with it: "1 edit was", "2 edits were".
  package static func of(_ number: Int, _ noun: String, _ one: String, _ many: String) -> String {
    of(number, noun) + " " + (number == 1 ? one : many)
  }
}
