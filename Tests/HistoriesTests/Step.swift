import Ledger

/// One step of a history, as plain data, so that it can be left out, printed and repeated.
///
/// It is printed as it is written here, so that a printed history is one for `FoundByHistoriesTests`.
///
/// A step identifies rows, records, backups and runs by a number, which is taken modulo their count
/// when the step is played. So any step can be left out and the others still make sense.
enum Step: Sendable, Hashable {
  case edit(phone: Int, soup: Int, pick: Int, field: Int, Spelling, isTooLong: Bool = false)
  case editAgain(phone: Int, field: Int)
  /// The phone changes the record of its last edit in the other soup that has it.
  case editInOtherSoup(phone: Int, field: Int)
  case create(phone: Int, soup: Int, Spelling)
  case createAndDelete(phone: Int, soup: Int, Spelling)
  case delete(phone: Int, soup: Int, pick: Int, Spelling)
  case backUp(phone: Int)
  /// The app sends dirty rows by itself, of one soup or of all (3), at most the given number.
  case syncUp(phone: Int, soup: Int, most: Int)
  /// The app fetches the org's data by itself into the clean rows.
  case syncDown(phone: Int)
  /// The phone reverts the row of its last edit, which is clean again.
  case revert(phone: Int)
  /// The phone creates a visit with the external ID of one that another phone created.
  case createSame(phone: Int)
  /// The phone creates a visit with the external ID of one that it was issued.
  case createOver(phone: Int, pick: Int)
  case createDetail(phone: Int, pick: Int)
  case editAddress(phone: Int, pick: Int)
  /// The phone creates an account with contacts below it.
  case createFamily(phone: Int, contacts: Int)
  /// The phone gives a contact to another account.
  case moveDetail(phone: Int, pick: Int, parent: Int)
  /// The phone deletes the account to which a phone has last given a contact, or the one that had it
  /// before.
  case deleteParent(phone: Int, isFormer: Bool)
  /// The phone takes its last deletion or edit back.
  case takeBack(phone: Int)
  /// An operator decides one of the open edits, counted from the last, in one of the possible ways:
  /// the wanted one, if it is possible.
  case decide(back: Int, way: Int, wanted: Decision.Kind? = nil)
  /// Another user changes what has the external ID of the phone's last new visit.
  case orgKey(phone: Int, KeyChange)
  /// The phone changes a row that its bundle issued as open.
  case fix(phone: Int, pick: Int, field: Int)
  /// The phone reverts a row that its bundle issued as open, which is then clean; a new one is
  /// deleted.
  case discard(phone: Int, pick: Int)
  /// The phone changes the row of its last edit to a value that is too long for the org.
  case spoil(phone: Int)
  case restore(phone: Int, pick: Int)
  case returnStore(phone: Int)
  /// A store is returned during a change of a soup's indexes: the app has saved its edits in the
  /// new table, and the copy of the old one has failed.
  case returnAltering(phone: Int, soup: Int)
  case returnAgain(pick: Int)
  /// The phone installs the newest bundle, if the app may do so (docs/bundle-format.md).
  case install(phone: Int)
  case orgChange(OrgChange)
  case clock(seconds: Int)
  /// Time passes, and a request held by a proxy stays held.
  case wait(seconds: Int)
  case lateArrival
  case run(Verb, Mishap?)

  enum KeyChange: String, Sendable, Hashable, CaseIterable {
    case deletes, restores, creates, changes
  }

  /// How an app writes the Mobile Sync flags.
  enum Spelling: String, Sendable, Hashable, CaseIterable { case boolean, text, number }

  enum Verb: Sendable, Hashable {
    case all, ingest, reconcile, pack
    /// A retry of the open edits of one of the runs so far.
    case retry(pick: Int)
    /// `reconcile undo` of one of the runs so far, counted from the last.
    case undo(back: Int)
  }

  enum Kind: String, Sendable, Hashable, CaseIterable {
    case edit, editTooLong, editAgain, editInOtherSoup, create, createAndDelete, delete, flagText,
      flagNumber, backUp
    case syncUp, syncDown, revert, createSame, createOver, createDetail, editAddress, wait
    case createFamily, moveDetail, deleteParent, takeBack, decide, orgKey
    case fix, discard, spoil
    case restore, returnStore, returnAltering, returnAgain, install, orgUpdate,
      orgSameSecond, orgDelete
    case orgUndelete, orgReassign, orgCreate, clock, lateArrival, run, verb, retry, undo
  }

  var kinds: Set<Kind> {
    switch self {
    case .edit(_, _, _, _, let spelling, let isTooLong):
      Self.kinds(.edit, spelling).union(isTooLong ? [.editTooLong] : [])
    case .create(_, _, let spelling): Self.kinds(.create, spelling)
    case .createAndDelete(_, _, let spelling): Self.kinds(.createAndDelete, spelling)
    case .delete(_, _, _, let spelling): Self.kinds(.delete, spelling)
    case .orgChange(let work): work.kinds
    case .run(.retry, _): [.retry]
    case .run(.undo, _): [.undo]
    case .run(.all, _): [.run]
    case .run: [.verb]
    default: Set([Kind(rawValue: name)].compactMap(\.self))
    }
  }

  private var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

  private static func kinds(_ kind: Kind, _ spelling: Spelling) -> Set<Kind> {
    switch spelling {
    case .boolean: [kind]
    case .text: [kind, .flagText]
    case .number: [kind, .flagNumber]
    }
  }
}

struct OrgChange: Sendable, Hashable {
  enum Action: Sendable, Hashable {
    case update(field: Int)
    case delete, undelete, reassign, create
  }

  enum Target: Sendable, Hashable {
    case record(Int)
    case ofPhone
    case newest
    /// The account to which a phone has last given a contact.
    case ofMove
  }

  var action: Action
  var target: Target
  var isSameSecond: Bool

  var kinds: Set<Step.Kind> {
    let kind: Step.Kind =
      switch action {
      case .update: .orgUpdate
      case .delete: .orgDelete
      case .undelete: .orgUndelete
      case .reassign: .orgReassign
      case .create: .orgCreate
      }
    return isSameSecond ? [kind, .orgSameSecond] : [kind]
  }
}

struct Mishap: Sendable, Hashable {
  enum Kind: String, Sendable, Hashable, CaseIterable {
    case lostAnswer = "the answer to a write is lost"
    case lostRequest = "a write is lost"
    case lateRequest = "a write is delayed"
    case killAtRequest = "killed at a request"
    case killAtWrite = "killed at a write"
    case killAtEvent = "killed between two events"
    case unavailable = "the org is unavailable for a while"
  }

  var kind: Kind
  /// The number of the request or event at which it occurs, among those at which it can.
  var nth: Int
  /// Whether a request at which the run is killed takes effect.
  var arrives: Bool
  /// The number of delayed writes, from the `nth` on.
  var times = 1
  /// Another user's change right afterwards.
  var then: OrgChange?
}
