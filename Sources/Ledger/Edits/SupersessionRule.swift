/// One sighting of an edit, in the return that first contained it or in a later one that still had
/// it.
package struct Sighting: Sendable, Hashable {
  var lineage: Int64
  /// The counter of the return.
  var handback: Int64?
  /// The edit's row in its bundle.
  var row: RowKey
  /// The row's `lastModified`.
  var lastModified: Int64
  /// The digest of the element.
  var content: String

  package init(
    lineage: Int64, handback: Int64? = nil, row: RowKey, lastModified: Int64, content: String
  ) {
    self.lineage = lineage
    self.handback = handback
    self.row = row
    self.lastModified = lastModified
    self.content = content
  }
}

/// The lineage of an edit, and the one that it forked from.
package struct Ancestry: Sendable, Hashable {
  package var lineage: Int64
  /// Its trunks: lineages whose returns below a counter are its own past.
  package var trunks: [Int64: Int64]
  /// The edits that its bundle redelivered, each with its ancestry.
  package var past: [Past] = []
  /// All returns that contained the edit, the earliest first, as far as they were asked for.
  var sightings: [Sighting] = []

  /// A redelivered edit.
  package struct Past: Sendable, Hashable {
    /// The edit's number; edits that arrived later are not part of the past.
    package var edit: Int64
    package var ancestry: Ancestry
  }

  /// Where a lineage left another one.
  struct Fork {
    var trunk: Int64
    /// The counter of the return at which it forked.
    var handback: Int64
  }

  package init(lineage: Int64, trunks: [Int64: Int64] = [:]) {
    self.lineage = lineage
    self.trunks = trunks
  }

  /// A lineage with the trunks below it.
  ///
  /// The past of a trunk ends where the first fork left it.
  init(lineage: Int64, in forks: [Int64: Fork]) {
    self.init(lineage: lineage)
    var next = lineage
    var end = Int64.max
    while let fork = forks[next], trunks[fork.trunk] == nil {
      end = min(end, fork.handback)
      trunks[fork.trunk] = end
      next = fork.trunk
    }
  }

  /// The lineages of its own past: its trunks, and those of the edits that its bundle redelivered.
  var pastLineages: Set<Int64> {
    past.reduce(into: Set(trunks.keys)) {
      $0.formUnion($1.ancestry.pastLineages.union([$1.ancestry.lineage]))
    }
  }

  /// Whether an edit of `other` with the counter `handback` belongs to this lineage's own past.
  package func owns(lineage other: Int64, handback: Int64?) -> Bool {
    if other == lineage { return true }
    guard let end = trunks[other], let handback else { return false }
    return handback < end
  }

  /// Whether an edit with these sightings belongs to this lineage's own past.
  func owns(_ edit: Int64, seen sightings: [Sighting]) -> Bool {
    sightings.contains { owns(lineage: $0.lineage, handback: $0.handback) }
      || hasRedelivered(edit, seen: sightings)
  }

  /// Whether a redelivered edit of the bundle is an edit or one of its successors.
  fileprivate func hasRedelivered(_ edit: Int64, seen sightings: [Sighting]) -> Bool {
    past.contains { past in
      edit <= past.edit && (edit == past.edit || past.ancestry.owns(edit, seen: sightings))
    }
  }
}

extension [Int64: Ancestry] {
  /// The ancestry of an edit; the edits of its record that its bundle redelivered are also its
  /// past.
  package func ancestry(of edit: Int64) -> Ancestry { self[edit] ?? Ancestry(lineage: 0) }

  /// Whether `other` belongs to the past of `edit`.
  package func owns(_ edit: Int64, _ other: Int64) -> Bool {
    ancestry(of: edit).owns(other, seen: ancestry(of: other).sightings)
  }

  /// Whether two edits of a record are of one device: one belongs to the other's past, or continues
  /// from a bundle that redelivered the other.
  ///
  /// The result is the same for either order.
  package func areOfOneDevice(_ edit: Int64, _ other: Int64) -> Bool {
    edit == other || owns(edit, other)
      || (other > edit
        && ancestry(of: other).hasRedelivered(edit, seen: ancestry(of: edit).sightings))
  }
}

/// Decides how an edit relates to the earlier edits of the same record.
package enum SupersessionRule {
  /// The relation of an edit to the earlier ones.
  package enum Disposition: Sendable, Hashable {
    /// A new edit that supersedes the named unresolved edits.
    case new(superseding: [Int64])
    /// The named unresolved edit. If its user saved the same values again, it is retried.
    case known(Int64, isSavedAgain: Bool)
    /// A known edit: the named one is the same or a later state. If none is named, a later return
    /// of its device no longer has the row as an edit.
    case superseded(by: Int64?)
    /// An edit of the same device as the named one, in an unknown order.
    case unordered(with: Int64)
  }

  /// A known edit of the record, as far as it matters to a later one.
  package struct Version: Sendable, Hashable {
    /// Whether an edit can still change.
    package enum Standing: Sendable, Hashable {
      /// The latest verdict is resolved.
      case settled
      /// It has not been sent yet or needs review; a later state of its record replaces it.
      case unsettled
      /// It was sent and its outcome is not known yet, or a late request for it needs review.
      case underWay
    }

    /// Its number in the ledger; numbers increase in order of arrival.
    var editID: Int64
    /// Where it was seen, starting with the return that first contained it.
    var sightings: [Sighting]
    /// The digest of what the user entered: the element without the store's own members.
    var value: String
    var standing: Standing
    /// The row's date as issued, if the new edit's bundle redelivered this one.
    var carried: Int64?

    package init(
      editID: Int64, sightings: [Sighting], value: String, standing: Standing,
      carried: Int64? = nil
    ) {
      (self.editID, self.sightings, self.value) = (editID, sightings, value)
      (self.standing, self.carried) = (standing, carried)
    }

    /// Whether a return had the same element with the same date in the same row.
    func wasSeen(as other: Sighting) -> Bool {
      sightings.contains {
        $0.row == other.row && $0.lastModified == other.lastModified && $0.content == other.content
      }
    }

    /// The edit as a lineage saw it; nil for an edit outside the lineage's past.
    fileprivate func seen(by ancestry: Ancestry) -> Version? {
      var own = self
      own.sightings.removeAll { !ancestry.owns(lineage: $0.lineage, handback: $0.handback) }
      return own.sightings.isEmpty && carried == nil ? nil : own
    }

    fileprivate var handback: Int64? { sightings.compactMap(\.handback).max() }

    fileprivate var lastModified: Int64 {
      (sightings.map(\.lastModified) + [carried].compactMap(\.self)).max() ?? .min
    }

    fileprivate static func comesFirst(_ one: Version, _ other: Version) -> Bool {
      (one.handback ?? .min, one.editID) < (other.handback ?? .min, other.editID)
    }

    /// Whether the return counters put it before `other`; a redelivered edit comes before any edit
    /// by its devices.
    fileprivate func isOrdered(before other: Sighting) -> Bool {
      if carried != nil { return true }
      guard let handback, let later = other.handback else { return false }
      return handback < later
    }
  }

  /// The disposition of `edit` among the `versions` of its record in the returns of its bundle.
  ///
  /// An edit is only superseded by a later return of its lineage, or because the same element with
  /// the same date was seen before and is resolved. Device dates neither order nor discard edits.
  /// An edit that needs review is replaced just as an open one is, because a retry would overwrite
  /// what its own user entered later. `laterHandbackStands` is whether the lineage has a later
  /// return that has the soup.
  package static func disposition(
    of edit: Sighting, value: String, ancestry: Ancestry, versions: [Version],
    laterHandbackStands: Bool = false
  ) -> Disposition {
    let same = versions.filter { $0.wasSeen(as: edit) }
    if let open = same.first(where: { $0.standing != .settled }) {
      return .known(open.editID, isSavedAgain: false)
    }
    if let seen = same.first { return .superseded(by: seen.editID) }
    let own = versions.compactMap { $0.seen(by: ancestry) }
    if let handback = edit.handback {
      let later = own.filter { ($0.handback ?? .min) > handback }
      if let last = later.max(by: Version.comesFirst) { return .superseded(by: last.editID) }
    }
    if laterHandbackStands { return .superseded(by: nil) }
    if let last = own.max(by: Version.comesFirst), last.standing != .settled, last.value == value {
      return .known(last.editID, isSavedAgain: edit.lastModified > last.lastModified)
    }
    for version in own where !version.isOrdered(before: edit) {
      if edit.lastModified <= version.lastModified { return .unordered(with: version.editID) }
    }
    let replaced = own.filter { $0.standing == .unsettled && $0.isOrdered(before: edit) }
    return .new(superseding: replaced.map(\.editID))
  }
}
