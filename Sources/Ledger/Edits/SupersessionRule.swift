/// A known edit, as far as it matters to a later edit of the same record.
package struct KnownEdit: Sendable, Hashable {
  /// One sighting of the edit, in the return that first contained it or in a later one that still
  /// had it.
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
  /// Whether the edit can still change.
  var standing: Standing
  /// The row's date as issued, if the new edit's bundle redelivered this one.
  var carried: Int64?

  package init(
    editID: Int64, sightings: [Sighting], value: String, standing: Standing, carried: Int64? = nil
  ) {
    self.editID = editID
    self.sightings = sightings
    self.value = value
    self.standing = standing
    self.carried = carried
  }

  /// Whether a return had the same element with the same date in the same row.
  func wasSeen(as other: Sighting) -> Bool {
    sightings.contains {
      $0.row == other.row && $0.lastModified == other.lastModified && $0.content == other.content
    }
  }
}

/// A lineage and the one that it forked from.
package struct Ancestry: Sendable, Hashable {
  package var lineage: Int64
  /// Its trunks: lineages whose returns below a counter are its own past.
  package var trunks: [Int64: Int64]
  /// The edits that its bundle redelivered, each with its ancestry.
  package var past: [Past] = []

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

  /// The edit to classify.
  package struct Newcomer: Sendable {
    var sighting: KnownEdit.Sighting
    /// The digest of what the user entered.
    var value: String

    package init(_ sighting: KnownEdit.Sighting, value: String) {
      self.sighting = sighting
      self.value = value
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
    of edit: Newcomer, ancestry: Ancestry, versions: [KnownEdit],
    laterHandbackStands: Bool = false
  ) -> Disposition {
    let same = versions.filter { $0.wasSeen(as: edit.sighting) }
    if let open = same.first(where: { $0.standing != .settled }) {
      return .known(open.editID, isSavedAgain: false)
    }
    if let seen = same.first { return .superseded(by: seen.editID) }
    let own = versions.compactMap { OwnVersion($0, ancestry) }
    if let handback = edit.sighting.handback {
      let later = own.filter { ($0.handback ?? .min) > handback }
      if let last = later.max(by: OwnVersion.comesFirst) { return .superseded(by: last.editID) }
    }
    if laterHandbackStands { return .superseded(by: nil) }
    if let last = own.max(by: OwnVersion.comesFirst), last.version.standing != .settled,
      last.version.value == edit.value
    {
      return .known(last.editID, isSavedAgain: edit.sighting.lastModified > last.lastModified)
    }
    for version in own where !version.isOrdered(before: edit.sighting) {
      if edit.sighting.lastModified <= version.lastModified {
        return .unordered(with: version.editID)
      }
    }
    let replaced = own.filter {
      $0.version.standing == .unsettled && $0.isOrdered(before: edit.sighting)
    }
    return .new(superseding: replaced.map(\.editID))
  }

  /// An edit as its lineage last saw it.
  private struct OwnVersion {
    var version: KnownEdit
    var handback: Int64?
    var lastModified: Int64
    var editID: Int64 { version.editID }

    /// Nil for an edit outside the lineage's past.
    init?(_ version: KnownEdit, _ ancestry: Ancestry) {
      let own = version.sightings.filter {
        ancestry.owns(lineage: $0.lineage, handback: $0.handback)
      }
      let dates = own.map(\.lastModified) + [version.carried].compactMap(\.self)
      guard let date = dates.max() else { return nil }
      self.version = version
      handback = own.compactMap(\.handback).max()
      lastModified = date
    }

    static func comesFirst(_ one: OwnVersion, _ other: OwnVersion) -> Bool {
      (one.handback ?? .min, one.editID) < (other.handback ?? .min, other.editID)
    }

    /// Whether the return counters put it before `other`; a redelivered edit comes before any edit
    /// by its devices.
    func isOrdered(before other: KnownEdit.Sighting) -> Bool {
      if version.carried != nil { return true }
      guard let handback, let later = other.handback else { return false }
      return handback < later
    }
  }
}
