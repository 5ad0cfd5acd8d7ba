/// What holds where neither a pipeline file nor a program says otherwise; each stands here once.
package enum SyncDefaults {
  /// How far an incremental sync looks back, in seconds: a transaction may commit a record with an
  /// older date than one that was read already, and an org ends a transaction after ten minutes.
  package static let overlapSeconds = 600
  /// Above how many records the whole of a query is made by the org in a bulk job.
  package static let bulkAbove = 200_000
  /// Above how many changes of one user, action and object a pipeline has the org do them in a bulk job.
  package static let ingestAbove = 2000
  /// How long, in seconds, a create whose answer was lost is not sent again because it was not found.
  package static let quietWindowSeconds = 900
}
