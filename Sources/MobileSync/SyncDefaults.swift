/// The defaults of pipeline files and of the library, each defined once.
package enum SyncDefaults {
  /// How far an incremental sync looks back, in seconds.
  ///
  /// A transaction may commit a record with an older date than one that was already read, and an
  /// org ends a transaction after ten minutes.
  package static let overlapSeconds = 600
  /// The number of records above which a query runs as a bulk job.
  package static let bulkAbove = 200_000
  /// The number of changes per user, action and object above which they are sent as a bulk job.
  package static let ingestAbove = 2000
  /// How long, in seconds, a create without a response is not sent again while the org does not
  /// have its record.
  package static let unansweredWaitSeconds = 900
}
