extension LedgerSchema {
  /// The rows in which bundles redeliver open edits, each by its location in a stamped store.
  ///
  /// `last_modified_ms` and `value` describe the row as issued: a returned row with both unchanged
  /// is the same edit. `record_id` is the ID in the element, null if that is a local ID. `shown`
  /// has the org's values that the row's message quotes, null if no message was shown.
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

  /// The run that put the edits into a store is recorded in the store's stamp and in these rows
  /// (`mark`), because after the data directory was restored from a backup, another generation of
  /// the same number may redeliver others.
  ///
  /// `carried_in` has the rows with which a return was issued.
  static let carriedByMark = [
    "ALTER TABLE carried RENAME TO carried_before",
    """
    CREATE TABLE carried (
      stamp_id TEXT NOT NULL, store TEXT NOT NULL, soup TEXT NOT NULL, entry_id INTEGER NOT NULL,
      mark TEXT NOT NULL, edit_id INTEGER NOT NULL REFERENCES edit,
      last_modified_ms INTEGER NOT NULL, value TEXT NOT NULL, record_id TEXT, shown TEXT,
      PRIMARY KEY (stamp_id, store, soup, entry_id, mark)) STRICT, WITHOUT ROWID
    """,
    """
    INSERT INTO carried SELECT stamp_id, store, soup, entry_id, '', edit_id, last_modified_ms, value,
      record_id, shown FROM carried_before
    """,
    "DROP TABLE carried_before",
    "CREATE INDEX carried_edit ON carried (edit_id)",
    """
    CREATE TABLE returned_mark (
      return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, mark TEXT NOT NULL,
      PRIMARY KEY (return_id, store)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE VIEW carried_in AS
    SELECT m.return_id, c.store, c.soup, c.entry_id, c.edit_id, c.last_modified_ms, c.record_id
    FROM returned_mark m JOIN returned r ON r.id = m.return_id
      JOIN carried c ON c.stamp_id = r.stamp_id AND c.store = m.store AND c.mark = m.mark
    """,
  ]

  /// The row's message, and the fields that its device had edited; null if unknown.
  static let carriedWords = [
    "ALTER TABLE carried ADD COLUMN words TEXT",
    "ALTER TABLE carried ADD COLUMN edited TEXT",
  ]
}
