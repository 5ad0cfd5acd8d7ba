/// What of a return decides whose device it came from.
package struct ReturnFacts: Sendable, Hashable {
  /// A row of it that is an edit.
  package struct DirtyRow: Sendable, Hashable {
    /// The row's `lastModified`.
    var lastModified: Int64
    /// The digest of the element's value.
    var content: String

    package init(lastModified: Int64, content: String) {
      self.lastModified = lastModified
      self.content = content
    }
  }

  /// The lineage it was put into; nil while that is to be decided.
  var lineage: Int64?
  /// The app's name of the installation.
  var install: String?
  /// The app's count of hand-backs.
  var handback: Int64?
  /// Its edits.
  var edits: [RowKey: DirtyRow]
  /// The dates of all rows known of it, dirty or clean; those of its edits are among them.
  var rows: [RowKey: Int64]
  /// The stores that it holds: each may come back by itself, under the same number.
  var stores: Set<StoreKey>

  /// The facts of a return.
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

  /// Says whether the two hold a store in common; one that holds none tells nothing of stores.
  func meets(_ other: ReturnFacts) -> Bool {
    stores.isEmpty || other.stores.isEmpty || !stores.isDisjoint(with: other.stores)
  }

  /// What of it is in the stores of another.
  func within(_ other: ReturnFacts) -> ReturnFacts {
    if stores.isEmpty || other.stores.isEmpty { return self }
    var part = self
    part.stores.formIntersection(other.stores)
    part.edits = edits.filter { part.stores.contains($0.key.store) }
    part.rows = rows.filter { part.stores.contains($0.key.store) }
    return part
  }

  /// Says whether `later` has every row that this one has as an edit, dirty or clean, at the same or
  /// a later date: as far as rows tell, `later` may be a later state of the same store.
  func isHeld(by later: ReturnFacts) -> Bool {
    edits.allSatisfy { row, edit in
      later.rows[row].map { $0 >= edit.lastModified } ?? false
    }
  }

  /// Says whether `later` shows that it was made by the device of this return: every edit of this
  /// one is still there, none at an earlier date, and at least one is unchanged to the millisecond.
  func isContinued(by later: ReturnFacts) -> Bool {
    isHeld(by: later) && edits.contains { row, edit in later.rows[row] == edit.lastModified }
  }
}

/// Decides which returns of one bundle are of one device (design: the safe mistake is a reported
/// clash, never a lost edit).
///
/// The stores of a bundle may come back each by itself, under one number. So numbers and evidence are
/// those of the stores that two returns have in common.
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
    return byEvidence(
      candidate,
      known.filter { $0.install == nil && $0.meets(candidate) }.map { $0.within(candidate) })
  }

  /// The returns of one lineage in order of arrival.
  private struct Line {
    var lineage: Int64
    var returns: [ReturnFacts]

    /// The last hand-back that a return with the number `handback` could go on from.
    func last(before handback: Int64?) -> ReturnFacts? {
      let earlier = returns.filter { ($0.handback ?? .min) < (handback ?? .max) }
      var last: ReturnFacts?
      for one in earlier where (one.handback ?? .min) >= (last?.handback ?? .min) { last = one }
      return last
    }

    func has(_ handback: Int64) -> Bool { returns.contains { $0.handback == handback } }

    /// Says whether one of its returns counted further than `handback`.
    func isBeyond(_ handback: Int64) -> Bool {
      returns.contains { ($0.handback ?? .min) > handback }
    }
  }

  private static func byInstall(_ candidate: ReturnFacts, _ known: [ReturnFacts]) -> Choice {
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

  /// A number that was not seen goes on, one that was seen with other content forks.
  ///
  /// A number below one that was seen is an older copy only where a later hand-back holds all of its
  /// rows at the same or a later date. Otherwise the phone was restored from a backup and counts
  /// again from there: what it brings is news, and a lineage of its own from that number.
  private static func byNumber(
    _ candidate: ReturnFacts, _ handback: Int64, _ lines: [Line]
  ) -> Choice {
    let older = lines.first { line in
      !line.has(handback)
        && line.returns.contains {
          ($0.handback ?? .min) > handback
            && (candidate.within($0).isHeld(by: $0) || LeftOut.rules.contains(.forks))
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

  /// The lineage that a return could go on from: the only one whose last edits it still has, or the
  /// only one of these that it shows evidence of.
  ///
  /// A lineage whose last hand-back another one went on from is that one's past. A last hand-back without an
  /// edit is held by anything: it tells nothing beside one that is held.
  private static func predecessor(of candidate: ReturnFacts, _ lines: [Line]) -> Line? {
    let held = lines.compactMap { line in
      line.last(before: candidate.handback).flatMap { last in
        last.isHeld(by: candidate) ? (line: line, last: last) : nil
      }
    }
    let telling = held.filter { !$0.last.edits.isEmpty }
    let possible = (telling.isEmpty ? held : telling).filter { one in
      !held.contains { other in
        (one.last.handback ?? .max) < (other.last.handback ?? .min)
          && one.last.isHeld(by: other.last)
      }
    }
    if possible.count == 1, candidate.handback != nil { return possible[0].line }
    let shown = possible.filter { $0.last.isContinued(by: candidate) }
    return shown.count == 1 ? shown[0].line : nil
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
