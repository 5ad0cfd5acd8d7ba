extension LedgerSchema {
  /// The rows in which bundles carry edits that are open, each by its place in the store of a stamp.
  ///
  /// `last_modified_ms` and `value` are the row's as issued: one that comes back with both is the edit
  /// that it was. `record_id` is the Id that the element was given, null where that is the device's own.
  /// `shown` has the org's values that its words name, null where nobody was shown any.
  static let carried = [
    """
    CREATE TABLE carried (
      stamp_id TEXT NOT NULL, store TEXT NOT NULL, soup TEXT NOT NULL, entry_id INTEGER NOT NULL,
      edit_id INTEGER NOT NULL REFERENCES edit, last_modified_ms INTEGER NOT NULL,
      value TEXT NOT NULL, record_id TEXT, shown TEXT,
      PRIMARY KEY (stamp_id, store, soup, entry_id)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX carried_edit ON carried (edit_id)",
  ]
}
