/// A verdict that a run gives to an edit.
package struct GivenVerdict {
  package var edit: Int64
  package var settlement: Settlement

  package init(edit: Int64, _ settlement: Settlement) {
    self.edit = edit
    self.settlement = settlement
  }
}
