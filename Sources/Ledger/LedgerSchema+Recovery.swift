extension LedgerSchema {
  /// The recoveries: each time that the ledger was put back into use without a record of what was
  /// sent last.
  ///
  /// `epoch` is the epoch that started, `before` the previous one, and `organization` the org of
  /// the previous one. `known_ms` is the time of the last run that the ledger knows. `until_ms` is
  /// the org's time before which all unknown writes were sent, once the org has been asked.
  /// `recovered_snapshot` has the newest known generation of each snapshot.
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
    // The epoch of the key that signed the stamp; 0 for a return from before the first recovery.
    "ALTER TABLE returned ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0",
    // The earliest time at which a write that a lost ledger recorded can have been sent.
    "ALTER TABLE operation ADD COLUMN since_ms INTEGER",
  ]

  /// Whether an edit `e` of a return `r` may have been sent by a run that the ledger does not know:
  /// its bundle, or that of another edit of the same new record, is of an earlier epoch, and
  /// nothing of it has been sent or looked for since.
  ///
  /// The condition is evaluated for each edit, and most ledgers have never been recovered. A plain
  /// `AND` would make SQLite evaluate all parts in those ledgers too.
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
