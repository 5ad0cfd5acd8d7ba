import Ledger

/// The contents of a pipeline's directory, and what the ledger needs of it: the whole input of
/// `KeepRule`.
package struct KeepFacts: Sendable {
  /// The generations of a snapshot.
  package struct Snapshot: Sendable {
    /// The user's ID, or `global`.
    package var id: String
    /// The name shown to operators.
    package var name: String
    /// The generation that `current` names.
    package var current: Int?
    /// The generations that have any files, in ascending order.
    package var generations: [Generation]

    package init(id: String, name: String, current: Int? = nil, generations: [Generation]) {
      self.id = id
      self.name = name
      self.current = current
      self.generations = generations
    }
  }

  /// One generation.
  package struct Generation: Sendable {
    package var number: Int
    /// The size of its stores and bundles; nil if they are gone.
    package var storeBytes: Int64?
    /// The size of its issued records; nil if they are gone.
    package var issuedBytes: Int64?
    /// When a run found that the generation is old and no longer distributed; nil if it is current.
    package var retired: Int64?
    /// The expiry of its last bundle; nil if it never had one.
    package var goodUntil: Int64?
    /// The open edits that came from its stores.
    package var openEdits: Set<Int64> = []
    /// The edits that its stores redeliver.
    package var carried: Set<Int64> = []
    /// Whether a device returned it, and no device of its user returned a newer one.
    package var isLastReturned = false
    /// Why it cannot be read; nil if it can.
    package var damage: String?

    /// A generation of which only the number is known.
    package init(number: Int) { self.number = number }
  }

  /// The file of a return that was processed or refused.
  package struct File: Sendable {
    /// Its digest, which names its directory.
    package var sha256: String
    /// Its original file name.
    package var name: String
    /// Its size in bytes.
    package var bytes: Int64
    /// When its edits were ingested; nil if the ledger has none of them.
    package var arrived: Int64?
    package var openEdits: Set<Int64>

    package init(
      sha256: String, name: String, bytes: Int64, arrived: Int64? = nil,
      openEdits: Set<Int64> = []
    ) {
      self.sha256 = sha256
      self.name = name
      self.bytes = bytes
      self.arrived = arrived
      self.openEdits = openEdits
    }
  }

  /// A report.
  package struct Report: Sendable {
    /// The run's ID, which names the report's directory.
    package var run: String
    /// The run's time.
    package var time: Int64
    /// Its size in bytes.
    package var bytes: Int64
    /// The open edits that its run processed.
    package var openEdits: Set<Int64>

    package init(run: String, time: Int64, bytes: Int64, openEdits: Set<Int64>) {
      self.run = run
      self.time = time
      self.bytes = bytes
      self.openEdits = openEdits
    }
  }

  /// The time to which ages are measured: the org's, at the newest run.
  package var now: Int64
  package var snapshots: [Snapshot] = []
  package var returned: [File] = []
  package var quarantined: [File] = []
  package var reports: [Report] = []
  /// The ID of the run of the last report.
  package var lastReport: String?
  package var openEdits: Set<Int64> = []

  /// Creates empty facts.
  package init(now: Int64) { self.now = now }
}
