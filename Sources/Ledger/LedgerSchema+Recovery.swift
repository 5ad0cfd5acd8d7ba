extension LedgerSchema {
  /// Each time that the ledger went on without knowing what was sent last.
  ///
  /// `epoch` is what it is in since, `before` what it was in; `organization` the org of the epoch before; `known_ms` the time of the last
  /// run that it knows of; `until_ms` the org's time by which everything that it does not know of was sent, once
  /// the org was asked. `recovered_snapshot` has the newest generation of each snapshot that is known.
  static let recovering = [
    """
    CREATE TABLE recovery (
      epoch INTEGER PRIMARY KEY, before INTEGER NOT NULL, organization TEXT, known_ms INTEGER NOT NULL,
      after_run INTEGER NOT NULL, recovered_ms INTEGER NOT NULL, until_ms INTEGER,
      recovered_by TEXT NOT NULL, detail TEXT NOT NULL) STRICT
    """,
    """
    CREATE TABLE recovered_snapshot (
      epoch INTEGER NOT NULL REFERENCES recovery, snapshot_id TEXT NOT NULL,
      generation INTEGER NOT NULL, PRIMARY KEY (epoch, snapshot_id)) STRICT, WITHOUT ROWID
    """,
    // The epoch whose key its stamp was made with; 0 for a return from before the first recovery.
    "ALTER TABLE returned ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0",
    // The earliest time at which a write can have been sent that a lost ledger may have known of.
    "ALTER TABLE operation ADD COLUMN since_ms INTEGER",
  ]

  /// Says of an edit `e` of a return `r` that it may have been sent by a run that the ledger does not know of:
  /// its bundle is of an earlier epoch, or that of another edit of the same new record, and nothing of it was sent
  /// or looked for since.
  ///
  /// It is asked of each edit, and most ledgers were never recovered: SQLite's `AND` would look for all of it in
  /// them, too.
  static let mayHaveBeenSent = """
    CASE WHEN NOT EXISTS (SELECT 1 FROM recovery) THEN 0 ELSE (
      r.epoch <> (SELECT max(epoch) FROM recovery) OR EXISTS (
        SELECT 1 FROM edit pe JOIN returned pr ON pr.id = pe.return_id
        WHERE pe.creation_id = e.creation_id AND pr.epoch <> (SELECT max(epoch) FROM recovery)))
      AND NOT EXISTS (
        SELECT 1 FROM edit pe JOIN operation po ON po.edit_id = pe.id JOIN run pn ON pn.id = po.run_id
        WHERE (pe.id = e.id OR pe.creation_id = e.creation_id) AND po.sent_ms IS NOT NULL
          AND pn.number > (SELECT max(after_run) FROM recovery)) END
    """
}
