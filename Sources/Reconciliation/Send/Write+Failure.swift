import Ledger

extension Write {
  /// The details if the org refuses the write.
  ///
  /// For an undo, the org still has the values that were sent, not those to be restored.
  var detailOfFailure: OutcomeDetail {
    var detail = operation.expected.detail
    if edit.isToBeUndone {
      for place in detail.fields.indices {
        detail.fields[place].server = detail.fields[place].sent
      }
    }
    return detail
  }
}
