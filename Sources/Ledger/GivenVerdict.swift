/// The verdict that a run gives to an edit.
package struct GivenVerdict {
  package var edit: Int64
  package var settlement: Settlement
  /// Says that no other edit is of its record (`LedgerDatabase.isAlone`): it replaces none.
  package var isAlone: Bool

  /// Gives an edit a verdict.
  package init(edit: Int64, _ settlement: Settlement, isAlone: Bool = false) {
    self.edit = edit
    self.settlement = settlement
    self.isAlone = isAlone
  }
}
