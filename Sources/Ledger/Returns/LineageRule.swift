/// The facts of a return that determine the device it came from.
package struct LineageEvidence: Sendable, Hashable {
  /// A row of the return that is an edit.
  package struct DirtyRow: Sendable, Hashable {
    var lastModified: Int64
    /// The digest of the element's value.
    var content: String

    package init(lastModified: Int64, content: String) {
      self.lastModified = lastModified
      self.content = content
    }
  }

  /// The lineage that it was assigned to; nil until that is decided.
  var lineage: Int64?
  /// The app's ID of the installation.
  var install: String?
  /// The app's count of returns.
  var handback: Int64?
  var edits: [RowKey: DirtyRow]
  /// The dates of all known rows of the return, dirty or clean, including those of its edits.
  var rows: [RowKey: Int64]
  /// The stores in the return.
  ///
  /// Each may be returned separately, with the same counter.
  var stores: Set<StoreKey>

  package init(
    lineage: Int64? = nil, install: String?, handback: Int64?, edits: [RowKey: DirtyRow],
    cleanRows: [RowKey: Int64] = [:], stores: Set<StoreKey> = []
  ) {
    self.lineage = lineage
    self.install = install
    self.handback = handback
    self.edits = edits
    rows = cleanRows.merging(edits.mapValues(\.lastModified)) { _, dirty in dirty }
    self.stores = stores.union(rows.keys.map(\.store))
  }

  /// Whether two returns have a store in common; always true if one of them lists no stores.
  func meets(_ other: LineageEvidence) -> Bool {
    stores.isEmpty || other.stores.isEmpty || !stores.isDisjoint(with: other.stores)
  }

  /// The facts about the stores that another return also has.
  func within(_ other: LineageEvidence) -> LineageEvidence {
    if stores.isEmpty || other.stores.isEmpty { return self }
    var part = self
    part.stores.formIntersection(other.stores)
    part.edits = edits.filter { part.stores.contains($0.key.store) }
    part.rows = rows.filter { part.stores.contains($0.key.store) }
    return part
  }

  /// Whether `later` has every row that is an edit here, dirty or clean, at the same or a later
  /// date.
  ///
  /// If so, `later` may be a later state of the same store.
  func isHeld(by later: LineageEvidence) -> Bool {
    edits.allSatisfy { row, edit in
      later.rows[row].map { $0 >= edit.lastModified } ?? false
    }
  }

  /// Whether `later` shows that the device of this return made it: every edit of this return is
  /// still there, none has an earlier date, and at least one has the same date to the millisecond.
  func isContinued(by later: LineageEvidence) -> Bool {
    isHeld(by: later) && edits.contains { row, edit in later.rows[row] == edit.lastModified }
  }
}

/// Decides which returns of one bundle come from one device.
///
/// The safe mistake is a reported device conflict, never a lost edit.
///
/// The stores of a bundle may be returned separately with the same counter. Therefore counters and
/// evidence are compared for the stores that two returns have in common.
package enum LineageRule {
  /// The lineage of a return.
  package enum Choice: Sendable, Hashable {
    /// A known lineage.
    case known(Int64)
    /// A new lineage.
    case new
    /// A new lineage that shares the returns below a counter with a known one.
    case fork(of: Int64, at: Int64)
  }

  /// The lineage of `candidate` among the returns of the same stamp, in order of arrival.
  package static func choose(for candidate: LineageEvidence, among known: [LineageEvidence])
    -> Choice
  {
    if candidate.install != nil { return byInstall(candidate, known) }
    return byEvidence(
      candidate,
      known.filter { $0.install == nil && $0.meets(candidate) }.map { $0.within(candidate) })
  }

  /// The returns of one lineage in order of arrival.
  private struct Line {
    var lineage: Int64
    var returns: [LineageEvidence]

    /// The last return that a return with the counter `handback` could follow.
    func last(before handback: Int64?) -> LineageEvidence? {
      let earlier = returns.filter { ($0.handback ?? .min) < (handback ?? .max) }
      var last: LineageEvidence?
      for one in earlier where (one.handback ?? .min) >= (last?.handback ?? .min) { last = one }
      return last
    }

    func has(_ handback: Int64) -> Bool { returns.contains { $0.handback == handback } }

    /// Whether one of its returns has a higher counter than `handback`.
    func isBeyond(_ handback: Int64) -> Bool {
      returns.contains { ($0.handback ?? .min) > handback }
    }
  }

  private static func byInstall(_ candidate: LineageEvidence, _ known: [LineageEvidence]) -> Choice
  {
    let own = known.filter { $0.install == candidate.install }
    var lines: [Line] = []
    for one in own {
      guard let lineage = one.lineage else { continue }
      let told = one.meets(candidate) ? [one.within(candidate)] : []
      if let index = lines.firstIndex(where: { $0.lineage == lineage }) {
        lines[index].returns += told
      } else {
        lines.append(Line(lineage: lineage, returns: told))
      }
    }
    guard let first = lines.first else { return .new }
    guard let handback = candidate.handback else {
      if lines.count == 1 { return .known(first.lineage) }
      return predecessor(of: candidate, lines).map { .known($0.lineage) } ?? .new
    }
    if let twin = own.first(where: {
      $0.handback == handback && $0.lineage != nil && $0.meets(candidate)
        && $0.within(candidate).edits == candidate.within($0).edits
    }), let lineage = twin.lineage {
      return .known(lineage)
    }
    return byNumber(candidate, handback, lines)
  }

  /// A counter that is new continues the lineage; one that was seen with other content forks.
  ///
  /// A counter below a known one belongs to an older copy only if a later return has all of its
  /// rows at the same or a later date. Otherwise the device was restored from a backup and counts
  /// again from there: its edits are new, and form a separate lineage from that counter on.
  private static func byNumber(
    _ candidate: LineageEvidence, _ handback: Int64, _ lines: [Line]
  ) -> Choice {
    let older = lines.first { line in
      !line.has(handback)
        && line.returns.contains {
          ($0.handback ?? .min) > handback
            && candidate.within($0).isHeld(by: $0)
        }
    }
    if let older { return .known(older.lineage) }
    let line = lines.count == 1 ? lines[0] : predecessor(of: candidate, lines)
    if let line {
      let isTaken = line.has(handback) || line.isBeyond(handback)
      return isTaken ? .fork(of: line.lineage, at: handback) : .known(line.lineage)
    }
    if let twin = lines.first(where: { $0.has(handback) }) {
      return .fork(of: twin.lineage, at: handback)
    }
    return .new
  }

  /// The lineage that a return could continue: the only one whose last edits it still has, or the
  /// only one of these for which it shows evidence.
  ///
  /// A lineage whose last return was continued by another lineage is part of that one's past. A
  /// last return without edits is compatible with anything, and one with older edits with a later
  /// edit of the same rows: only an unchanged edit is evidence.
  private static func predecessor(of candidate: LineageEvidence, _ lines: [Line]) -> Line? {
    let held = lines.compactMap { line in
      line.last(before: candidate.handback).flatMap { last in
        last.isHeld(by: candidate) ? (line: line, last: last) : nil
      }
    }
    let possible = held.filter { one in
      !held.contains { other in
        (one.last.handback ?? .max) < (other.last.handback ?? .min)
          && one.last.isHeld(by: other.last)
      }
    }
    if possible.count == 1, candidate.handback != nil { return possible[0].line }
    let shown = possible.filter { $0.last.isContinued(by: candidate) }
    return shown.count == 1 ? shown[0].line : nil
  }

  private static func byEvidence(_ candidate: LineageEvidence, _ known: [LineageEvidence]) -> Choice
  {
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
