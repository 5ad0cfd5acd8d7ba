/// What of a return decides whose device it came from.
package struct ReturnFacts: Sendable, Hashable {
  /// One edit of it.
  package struct Edit: Sendable, Hashable {
    /// The row's `lastModified`.
    package var lastModified: Int64
    /// The digest of the element's value.
    package var content: String

    /// An edit.
    package init(lastModified: Int64, content: String) {
      self.lastModified = lastModified
      self.content = content
    }
  }

  /// The lineage it was put into; nil while that is to be decided.
  package var lineage: Int64?
  /// The app's name of the installation.
  package var install: String?
  /// The app's count of hand-backs.
  package var handback: Int64?
  /// Its edits.
  package var edits: [RowKey: Edit]
  /// The dates of all rows known of it, dirty or clean; those of its edits are among them.
  package var rows: [RowKey: Int64]

  /// The facts of a return.
  package init(
    lineage: Int64? = nil, install: String?, handback: Int64?, edits: [RowKey: Edit],
    cleanRows: [RowKey: Int64] = [:]
  ) {
    self.lineage = lineage
    self.install = install
    self.handback = handback
    self.edits = edits
    rows = cleanRows.merging(edits.mapValues(\.lastModified)) { _, dirty in dirty }
  }

  /// Says whether `later` shows that it was made by the device of this return: every edit of this
  /// one is still there, none at an earlier date, and at least one is unchanged to the millisecond.
  package func isContinued(by later: ReturnFacts) -> Bool {
    var unchanged = 0
    for (row, edit) in edits {
      guard let date = later.rows[row], date >= edit.lastModified else { return false }
      if date == edit.lastModified { unchanged += 1 }
    }
    return unchanged > 0
  }
}

/// Decides which returns of one bundle are of one device (design: the safe mistake is a reported
/// clash, never a lost edit).
package enum LineageRule {
  /// What a return belongs to.
  package enum Choice: Sendable, Hashable {
    /// A lineage that is known.
    case known(Int64)
    /// One of its own.
    case new
    /// One of its own, which shares the hand-backs below a number with a known one.
    case fork(of: Int64, at: Int64)
  }

  /// The lineage of `candidate` among the returns of the same stamp, in order of arrival.
  package static func choose(for candidate: ReturnFacts, among known: [ReturnFacts]) -> Choice {
    if candidate.install != nil { return byInstall(candidate, known) }
    return byEvidence(candidate, known.filter { $0.install == nil })
  }

  private static func byInstall(_ candidate: ReturnFacts, _ known: [ReturnFacts]) -> Choice {
    let own = known.filter { $0.install == candidate.install }
    var lineages: [Int64] = []
    for case let lineage? in own.map(\.lineage) where !lineages.contains(lineage) {
      lineages.append(lineage)
    }
    guard let first = lineages.first else { return .new }
    let same = own.filter { $0.handback == candidate.handback && candidate.handback != nil }
    if let twin = same.first(where: { $0.edits == candidate.edits }), let lineage = twin.lineage {
      return .known(lineage)
    }
    if let other = same.first, let lineage = other.lineage, let at = candidate.handback {
      return .fork(of: lineage, at: at)
    }
    guard lineages.count > 1 else { return .known(first) }
    return amongForks(candidate, own, lineages)
  }

  /// A return that could go on from several forks goes on from the one that it shows evidence of.
  private static func amongForks(
    _ candidate: ReturnFacts, _ own: [ReturnFacts], _ lineages: [Int64]
  ) -> Choice {
    let continued = lineages.filter { lineage in
      let returns = own.filter { $0.lineage == lineage }
      let before = returns.filter { ($0.handback ?? .min) < (candidate.handback ?? .max) }
      return before.last?.isContinued(by: candidate) ?? false
    }
    return continued.count == 1 ? .known(continued[0]) : .new
  }

  private static func byEvidence(_ candidate: ReturnFacts, _ known: [ReturnFacts]) -> Choice {
    var fitting: [Int64] = []
    var refused: Set<Int64> = []
    for other in known {
      guard let lineage = other.lineage else { continue }
      if other.isContinued(by: candidate) || candidate.isContinued(by: other) {
        if !fitting.contains(lineage) { fitting.append(lineage) }
      } else {
        refused.insert(lineage)
      }
    }
    let sure = fitting.filter { !refused.contains($0) }
    return sure.count == 1 ? .known(sure[0]) : .new
  }
}
