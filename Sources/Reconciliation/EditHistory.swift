/// One edit that the ledger knows, as far as a later edit of the same record asks.
package struct EditVersion: Sendable, Hashable {
  /// Its number in the ledger, ascending in order of arrival.
  package var editID: Int64
  /// Its lineage.
  package var lineage: Int64
  /// The hand-back of its return.
  package var handback: Int64?
  /// The row it stood in, within its bundle.
  package var row: RowKey
  /// The bundle.
  package var stampID: String
  /// The row's date.
  package var lastModified: Int64
  /// The digest of the element's value.
  package var content: String
  /// Says whether it still waits to be sent.
  package var isOpen: Bool

  /// A version.
  package init(
    editID: Int64, lineage: Int64, handback: Int64?, row: RowKey, stampID: String,
    lastModified: Int64, content: String, isOpen: Bool
  ) {
    self.editID = editID
    self.lineage = lineage
    self.handback = handback
    self.row = row
    self.stampID = stampID
    self.lastModified = lastModified
    self.content = content
    self.isOpen = isOpen
  }
}

/// A lineage and the one that it forked from.
package struct Ancestry: Sendable, Hashable {
  /// The lineage.
  package var lineage: Int64
  /// The lineages whose hand-backs below a number are its own past.
  package var trunks: [Int64: Int64]

  /// An ancestry.
  package init(lineage: Int64, trunks: [Int64: Int64] = [:]) {
    self.lineage = lineage
    self.trunks = trunks
  }

  /// Says whether an edit of `other` with `handback` is of this lineage's own past.
  package func owns(lineage other: Int64, handback: Int64?) -> Bool {
    if other == lineage { return true }
    guard let end = trunks[other], let handback else { return false }
    return handback < end
  }
}

/// Says what an edit is beside the edits of the same record that came before it.
package enum EditHistory {
  /// What an edit is.
  package enum Disposition: Sendable, Hashable {
    /// News; the open edits it names are superseded by it.
    case new(superseding: [Int64])
    /// Known: the one it names holds it, or a later state of it; without one, a later hand-back of
    /// its device no longer has the row as an edit.
    case superseded(by: Int64?)
    /// Of the same device as the one it names, and nothing says which came first.
    case unordered(with: Int64)
  }

  /// The disposition of `edit`, whose own `editID` and `isOpen` are not looked at.
  ///
  /// Only a higher hand-back of its lineage supersedes an edit, or that the same element with the
  /// same date was seen before. Device dates order nothing and discard nothing.
  /// `laterHandbackStands` says that the lineage has a return with a higher hand-back that has the
  /// soup.
  package static func disposition(
    of edit: EditVersion, ancestry: Ancestry, versions: [EditVersion],
    laterHandbackStands: Bool = false
  ) -> Disposition {
    if let seen = versions.first(where: { isSame($0, edit) }) {
      return .superseded(by: seen.editID)
    }
    let own = versions.filter { ancestry.owns(lineage: $0.lineage, handback: $0.handback) }
    if let handback = edit.handback {
      let later = own.filter { ($0.handback ?? .min) > handback }
      if let last = later.max(by: { ($0.handback ?? .min) < ($1.handback ?? .min) }) {
        return .superseded(by: last.editID)
      }
    }
    if laterHandbackStands { return .superseded(by: nil) }
    for version in own where !isOrdered(version, edit) {
      if edit.lastModified <= version.lastModified { return .unordered(with: version.editID) }
    }
    let replaced = own.filter { $0.isOpen && isOrdered($0, edit) }
    return .new(superseding: replaced.map(\.editID))
  }

  private static func isSame(_ one: EditVersion, _ other: EditVersion) -> Bool {
    one.stampID == other.stampID && one.row == other.row
      && one.lastModified == other.lastModified && one.content == other.content
  }

  /// Says whether the hand-backs put `one` before `other`.
  private static func isOrdered(_ one: EditVersion, _ other: EditVersion) -> Bool {
    guard let earlier = one.handback, let later = other.handback else { return false }
    return earlier < later
  }
}
