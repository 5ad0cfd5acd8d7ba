/// One edit that the ledger knows, as far as a later edit of the same record asks.
package struct KnownEdit: Sendable, Hashable {
  /// Where and how the edit was seen: by the return that brought it, and by later ones that hold the
  /// same edit still.
  package struct Sighting: Sendable, Hashable {
    /// The lineage of the return.
    var lineage: Int64
    /// The hand-back of the return.
    var handback: Int64?
    /// The row it stood in, within its bundle.
    var row: RowKey
    /// The row's date.
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

  /// What may still become of an edit.
  package enum Standing: Sendable, Hashable {
    /// Nothing more: its last verdict is settled.
    case settled
    /// It was not sent yet, or a person has to see to it: a later state of its record replaces it.
    case unsettled
    /// It was sent, and its outcome is not known yet, or a late request of it waits for an operator.
    case underWay
  }

  /// Its number in the ledger, ascending in order of arrival.
  var editID: Int64
  /// Where it was seen, the return that brought it first.
  var sightings: [Sighting]
  /// The digest of what the user entered: the element without what the store keeps in it.
  var value: String
  /// What may still become of it.
  var standing: Standing
  /// The row's date as issued, where the newcomer's bundle carried the edit.
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

  /// Says whether a return held the same element with the same date in the same row.
  func wasSeen(as other: Sighting) -> Bool {
    sightings.contains {
      $0.row == other.row && $0.lastModified == other.lastModified && $0.content == other.content
    }
  }
}

/// A lineage and the one that it forked from.
package struct Ancestry: Sendable, Hashable {
  /// The lineage.
  package var lineage: Int64
  /// The lineages whose hand-backs below a number are its own past.
  package var trunks: [Int64: Int64]
  /// The edits that its bundle carried, each with what came before it.
  package var past: [Past] = []

  /// An edit that a bundle carried.
  package struct Past: Sendable, Hashable {
    /// The edit; what arrived after it is no past.
    package var edit: Int64
    /// Its own ancestry.
    package var ancestry: Ancestry
  }

  /// An ancestry.
  package init(lineage: Int64, trunks: [Int64: Int64] = [:]) {
    self.lineage = lineage
    self.trunks = trunks
  }

  /// The lineages of its own past: its trunks, and those of the edits that its bundle carried.
  var pastLineages: Set<Int64> {
    past.reduce(into: Set(trunks.keys)) {
      $0.formUnion($1.ancestry.pastLineages.union([$1.ancestry.lineage]))
    }
  }

  /// Says whether an edit of `other` with `handback` is of this lineage's own past.
  package func owns(lineage other: Int64, handback: Int64?) -> Bool {
    if other == lineage { return true }
    guard let end = trunks[other], let handback else { return false }
    return handback < end
  }
}

/// Says what an edit is beside the edits of the same record that came before it.
package enum SupersessionRule {
  /// What an edit is.
  package enum Disposition: Sendable, Hashable {
    /// News; the unsettled edits it names are superseded by it.
    case new(superseding: [Int64])
    /// The edit it names, which is not settled yet. Where its user saved the same values again, it
    /// is to be tried again.
    case known(Int64, isSavedAgain: Bool)
    /// Known: the one it names holds it, or a later state of it; without one, a later hand-back of
    /// its device no longer has the row as an edit.
    case superseded(by: Int64?)
    /// Of the same device as the one it names, and nothing says which came first.
    case unordered(with: Int64)
  }

  /// What is asked about.
  package struct Newcomer: Sendable {
    /// How it was found.
    var sighting: KnownEdit.Sighting
    /// The digest of what the user entered.
    var value: String

    /// A newcomer.
    package init(_ sighting: KnownEdit.Sighting, value: String) {
      self.sighting = sighting
      self.value = value
    }
  }

  /// The disposition of `edit` among the `versions` of its record in the returns of its bundle.
  ///
  /// Only a higher hand-back of its lineage supersedes an edit, or that the same element with the
  /// same date was seen before and is settled. Device dates order nothing and discard nothing. An
  /// edit that a person has to see to is replaced as one that is open is: were it sent later, at a
  /// retry, it would be put over what its own user entered after it.
  /// `laterHandbackStands` says that the lineage has a return with a higher hand-back that has the
  /// soup.
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
        && !LeftOut.rules.contains(.laterEdits)
    }
    return .new(superseding: replaced.map(\.editID))
  }

  /// An edit as its lineage saw it last.
  private struct OwnVersion {
    var version: KnownEdit
    var handback: Int64?
    var lastModified: Int64
    var editID: Int64 { version.editID }

    /// Nil for an edit that is none of the lineage's past.
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

    /// Says whether the hand-backs put it before `other`; what a bundle carried comes before whatever
    /// its devices did.
    func isOrdered(before other: KnownEdit.Sighting) -> Bool {
      if version.carried != nil { return true }
      guard let handback, let later = other.handback else { return false }
      return handback < later
    }
  }
}
