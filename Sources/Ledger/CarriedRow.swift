import JSON

/// An edit that is open, as a bundle gives it back to its devices: a row that is dirty still.
package struct CarriedRow: Sendable, Hashable {
  /// The edit.
  package var edit: Int64
  /// The digest of the edit's element: by it and its number it is known.
  package var source: String
  /// The stamp of the store.
  package var stampID: String
  /// The row.
  package var row: RowKey
  /// The run that put it there, as the store's stamp says (`Provenance.carried`).
  package var mark: String
  /// The row's `lastModified` as issued.
  package var lastModified: Int64
  /// The digest of what the row holds as issued (`ElementContent.value`).
  package var value: String
  /// The record's Id that the element was given; nil for a record that the org does not have.
  package var recordID: String?
  /// The org's values that the row's words show, by field; nil where it shows none.
  package var shown: JSONObject?
  /// The row's words, why the edit is open; nil where they are not known.
  package var words: String?
  /// The fields that the device had edited, nil where they are not known; the others are as the org had
  /// them.
  package var edited: [String]?

  /// A row.
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

/// What decides whether the next generation carries an edit that a sync up has left.
package struct CarryFacts {
  /// The edit.
  package var edit: OpenEdit
  /// The platform of the device that it came from.
  package var platform: String
  /// What became of it last; nil where nothing did.
  package var verdict: Verdict?
  /// What stands beside the verdict.
  package var detail: OutcomeDetail
  /// The device that made it, or the first edit from which it goes on (`LedgerDatabase.device`).
  package var device: Int64
  /// Says whether a request for it is under way or arrived too late, it is of a store that others have too,
  /// or its app could not be told that it may install over it.
  package var isBound: Bool
  /// Says whether a bundle has given it back already.
  package var wasCarried: Bool
}
