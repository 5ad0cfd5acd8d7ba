import JSON

/// An open edit that a bundle returns to its device as a row that is still dirty.
package struct CarriedRow: Sendable, Hashable {
  package var edit: Int64
  /// The digest of the edit's element, which identifies the edit together with its number.
  package var source: String
  /// The stamp ID of the store.
  package var stampID: String
  package var row: RowKey
  /// The run that wrote the row, as recorded in the store's stamp (`Provenance.carried`).
  package var mark: String
  /// The row's `lastModified` as issued.
  package var lastModified: Int64
  /// The digest of the row's content as issued (`ElementContent.value`).
  package var value: String
  /// The record ID in the element; nil if the org does not have the record.
  package var recordID: String?
  /// The org's values that the row's message quotes, by field; nil if it quotes none.
  package var shown: JSONObject?
  /// The row's message, which says why the edit is open; nil if unknown.
  package var words: String?
  /// The fields that the device had edited; nil if unknown.
  ///
  /// The other fields have the org's values.
  package var edited: [String]?

  package init(
    edit: Int64, source: String = "", stampID: String, row: RowKey, mark: String,
    lastModified: Int64, value: String, recordID: String? = nil, shown: JSONObject? = nil,
    words: String? = nil, edited: [String]? = nil
  ) {
    (self.words, self.edited) = (words, edited)
    self.mark = mark
    self.edit = edit
    self.source = source
    self.stampID = stampID
    self.row = row
    self.lastModified = lastModified
    self.value = value
    self.recordID = recordID
    self.shown = shown
  }
}

/// The facts that decide whether the next generation redelivers an unresolved edit.
package struct CarryFacts {
  package var edit: OpenEdit
  /// The platform of the device that made the edit.
  package var platform: String
  /// The edit's latest verdict; nil if it has none.
  package var verdict: Verdict?
  /// The details of the verdict.
  package var detail: OutcomeDetail
  /// The device that made the edit, or the first edit in its history (`LedgerDatabase.device`).
  package var device: Int64
  /// Whether the edit cannot be redelivered: a request for it is in progress or arrived late, its
  /// store is shared with other users, or its app could not know that it may install over it.
  package var isBound: Bool
  /// Whether a bundle has redelivered the edit before.
  package var wasCarried: Bool
}
