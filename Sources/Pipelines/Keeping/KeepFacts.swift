import Ledger

/// What lies in a pipeline's directory, and what the ledger says that it is needed for: all that `KeepRule`
/// looks at.
package struct KeepFacts: Sendable {
  /// A snapshot's generations.
  package struct Snapshot: Sendable {
    /// The user's id, or `global`.
    package var id: String
    /// What a person calls it.
    package var name: String
    /// What `current` names.
    package var current: Int?
    /// The generations of which anything lies there, ascending.
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
    /// Its number.
    package var number: Int
    /// The bytes of its stores and bundles; nil where they are not there any more.
    package var storeBytes: Int64?
    /// The bytes of what it issued; nil where that is not there any more.
    package var issuedBytes: Int64?
    /// When a run found it to be an old one, so that no device gets it any more; nil for one that is not.
    package var retired: Int64?
    /// Until when the last of its bundles is good; nil for one that never had any.
    package var goodUntil: Int64?
    /// The edits that came from its stores and are not settled.
    package var openEdits: Set<Int64> = []
    /// The edits that its stores carry.
    package var carried: Set<Int64> = []
    /// Whether a device handed back from it, and none of its user's from a newer one.
    package var isLastReturned = false
    /// Why it cannot be read, where that is so.
    package var damage: String?

    /// A generation of which nothing is known but its number.
    package init(number: Int) { self.number = number }
  }

  /// A return that is done with.
  package struct Returned: Sendable {
    /// Its digest, which names its directory.
    package var sha256: String
    /// What it was called.
    package var name: String
    /// Its bytes.
    package var bytes: Int64
    /// When it arrived; nil for one that the ledger does not know.
    package var arrived: Int64?
    /// Its edits that are not settled.
    package var openEdits: Set<Int64>

    package init(
      sha256: String, name: String, bytes: Int64, arrived: Int64? = nil, openEdits: Set<Int64>
    ) {
      self.sha256 = sha256
      self.name = name
      self.bytes = bytes
      self.arrived = arrived
      self.openEdits = openEdits
    }
  }

  /// A return that was refused.
  package struct Quarantined: Sendable {
    /// Its digest, which names its directory.
    package var sha256: String
    /// What it was called.
    package var name: String
    /// Its bytes.
    package var bytes: Int64
    /// When it was taken in after all; nil where the ledger has none of its edits.
    package var ingested: Int64?

    package init(sha256: String, name: String, bytes: Int64, ingested: Int64? = nil) {
      self.sha256 = sha256
      self.name = name
      self.bytes = bytes
      self.ingested = ingested
    }
  }

  /// A report.
  package struct Report: Sendable {
    /// The run, which names its directory.
    package var run: String
    /// The run's time.
    package var time: Int64
    /// Its bytes.
    package var bytes: Int64
    /// The edits that its run met and that are not settled.
    package var openEdits: Set<Int64>

    package init(run: String, time: Int64, bytes: Int64, openEdits: Set<Int64>) {
      self.run = run
      self.time = time
      self.bytes = bytes
      self.openEdits = openEdits
    }
  }

  /// The time that ages are counted to: the org's, at the newest run.
  package var now: Int64
  /// The snapshots.
  package var snapshots: [Snapshot] = []
  /// The returns that are done with.
  package var returned: [Returned] = []
  /// The returns that were refused.
  package var quarantined: [Quarantined] = []
  /// The reports.
  package var reports: [Report] = []
  /// The run of the last of them.
  package var lastReport: String?
  /// The edits that are not settled.
  package var openEdits: Set<Int64> = []

  /// Nothing.
  package init(now: Int64) { self.now = now }
}
