/// A value that the ledger notes under a name: one for the whole ledger, or one for each snapshot,
/// object or user.
package struct LedgerNote<Value> {
  let name: String
  let text: (Value) -> String
  let value: (String) -> Value?
}

extension LedgerNote<String> {
  fileprivate init(_ name: String) { self.init(name: name, text: \.self, value: \.self) }

  /// The digest of the key that the ledger signs stamps with; none before it signs any.
  package static var stampKey: Self { Self("stampKeyDigest") }

  /// The path of the pipeline file, absolute and without links; none before the first run.
  package static var pipelineFile: Self { Self("pipelineFile") }

  /// The ID of the org of the first run; none before it.
  static var organization: Self { Self("organization") }

  /// The org's address for browsers, without a trailing slash; none before a run that used the org.
  package static var instance: Self { Self("instance") }

  /// The ID of the user who sends writes on behalf of users who cannot, because an unknown run may
  /// have sent writes as this user.
  package static var integrationUser: Self { Self("integrationUser") }

  /// The org's label for an object.
  package static func label(_ sobject: String) -> Self { Self(labels + sobject) }

  /// The name in the org of a user without a snapshot, by ID.
  package static func person(_ id: String) -> Self { Self(people + id) }

  /// What the last prime learned about calls with several parts; none before the first.
  package static var wideCalls: Self { Self("wide calls") }

  /// The orders of the open run that workers perform, as a document; empty or none if there are
  /// none.
  package static var orders: Self { Self("orders") }

  /// Where orders were last written; none if never.
  package static var workStore: Self { Self("work store") }

  /// How a user reads records that users share, as a digest; none if never shared.
  package static func readingClass(_ snapshotID: String) -> Self { Self("reads \(snapshotID)") }

  static var labels: String { "label " }
  static var people: String { "person " }
}

extension LedgerNote<Int64> {
  fileprivate init(_ name: String) {
    self.init(name: name, text: { String($0) }, value: { Int64($0) })
  }

  /// The ledger's epoch, which each recovery increases.
  static var epoch: Self { Self("epoch") }

  /// The number of the last run that was started.
  static var runNumber: Self { Self("runNumber") }

  /// When this backup copy was made, in ms of the wall clock; none in a ledger in use.
  ///
  /// A backup copy must be recovered before use.
  package static var backup: Self { Self("backup") }

  /// When a snapshot was last primed, in the org's time: its newest generation has the org's state
  /// of then.
  package static func primed(_ snapshotID: String) -> Self { Self("primed \(snapshotID)") }

  /// The number of the run that last primed a snapshot.
  package static func primingRun(_ snapshotID: String) -> Self { Self("primed by \(snapshotID)") }

  /// When the request limit last interrupted the prime of a snapshot, in the org's time.
  package static func cutOff(_ snapshotID: String) -> Self { Self("cut off \(snapshotID)") }
}

extension LedgerNote<Set<String>> {
  /// The snapshots whose next prime uses nothing of earlier generations.
  package static var fromScratch: Self {
    Self(
      name: "from scratch", text: { $0.sorted().joined(separator: " ") },
      value: { Set($0.split(separator: " ").map(String.init)) })
  }
}

/// When a run began to read the data of a generation, in the org's time, whether or not it created
/// the generation.
package struct GenerationRead: Sendable, Hashable {
  package var generation: Int
  package var time: Int64

  package init(generation: Int, time: Int64) { (self.generation, self.time) = (generation, time) }
}

extension LedgerNote<GenerationRead> {
  /// When the newest generation of a snapshot was last compared with the org.
  package static func read(_ snapshotID: String) -> Self {
    Self(
      name: "read \(snapshotID)", text: { "\($0.generation) \($0.time)" },
      value: { text in
        let parts = text.split(separator: " ").compactMap { Int64($0) }
        guard parts.count == 2 else { return nil }
        return GenerationRead(generation: Int(parts[0]), time: parts[1])
      })
  }
}
