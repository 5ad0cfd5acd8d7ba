/// A verdict that a run gives to an edit.
package struct GivenVerdict {
  package var edit: Int64
  package var settlement: Settlement
  /// Whether the edit is the only one of its record (`RecordHistory.isAlone`), so that it replaces
  /// none.
  package var isAlone: Bool

  package init(edit: Int64, _ settlement: Settlement, isAlone: Bool = false) {
    self.edit = edit
    self.settlement = settlement
    self.isAlone = isAlone
  }
}
