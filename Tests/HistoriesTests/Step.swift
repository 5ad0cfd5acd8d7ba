import Ledger

/// One step of a history, as plain data, so that it can be left out, printed and repeated.
///
/// A step identifies rows, records, backups and runs by a number, which is taken modulo their count
/// when the step is played. So any step can be left out and the others still make sense.
enum Step: Sendable, Hashable, CustomStringConvertible {
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

  enum Verb: Sendable, Hashable, CustomStringConvertible {
    case all, ingest, reconcile, pack
    /// A retry of the open edits of one of the runs so far.
    case retry(pick: Int)
    /// `reconcile undo` of one of the runs so far, counted from the last.
    case undo(back: Int)

    var description: String {
      switch self {
      case .all: "run"
      case .ingest: "ingest"
      case .reconcile: "reconcile"
      case .pack: "run --only pack"
      case .retry(let pick): "retry of run \(pick)"
      case .undo(let back): "reconcile undo of the run \(back) before the last"
      }
    }
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
    case .editAgain: [.editAgain]
    case .editInOtherSoup: [.editInOtherSoup]
    case .create(_, _, let spelling): Self.kinds(.create, spelling)
    case .createAndDelete(_, _, let spelling): Self.kinds(.createAndDelete, spelling)
    case .delete(_, _, _, let spelling): Self.kinds(.delete, spelling)
    case .backUp: [.backUp]
    case .syncUp: [.syncUp]
    case .syncDown: [.syncDown]
    case .revert: [.revert]
    case .createSame: [.createSame]
    case .createOver: [.createOver]
    case .createDetail: [.createDetail]
    case .editAddress: [.editAddress]
    case .createFamily: [.createFamily]
    case .moveDetail: [.moveDetail]
    case .deleteParent: [.deleteParent]
    case .takeBack: [.takeBack]
    case .decide: [.decide]
    case .orgKey: [.orgKey]
    case .wait: [.wait]
    case .fix: [.fix]
    case .discard: [.discard]
    case .spoil: [.spoil]
    case .restore: [.restore]
    case .returnStore: [.returnStore]
    case .returnAltering: [.returnAltering]
    case .returnAgain: [.returnAgain]
    case .install: [.install]
    case .orgChange(let work): work.kinds
    case .clock: [.clock]
    case .lateArrival: [.lateArrival]
    case .run(.retry, _): [.retry]
    case .run(.undo, _): [.undo]
    case .run(.all, _): [.run]
    case .run: [.verb]
    }
  }

  private static func kinds(_ kind: Kind, _ spelling: Spelling) -> Set<Kind> {
    switch spelling {
    case .boolean: [kind]
    case .text: [kind, .flagText]
    case .number: [kind, .flagNumber]
    }
  }

  var description: String {
    switch self {
    case .edit(let phone, let soup, let pick, let field, let spelling, let isTooLong):
      "phone \(phone) edits \(Soup.all[soup].name) row \(pick), field \(field)"
        + (isTooLong ? ", too long for the org" : "") + spelling.words
    case .editAgain(let phone, let field):
      "phone \(phone) edits the row of its last edit again, field \(field)"
    case .editInOtherSoup(let phone, let field):
      "phone \(phone) edits the record of its last edit in the other soup, field \(field)"
    case .create(let phone, let soup, let spelling):
      "phone \(phone) creates a row in \(Soup.all[soup].name)\(spelling.words)"
    case .createAndDelete(let phone, let soup, let spelling):
      "phone \(phone) creates a row in \(Soup.all[soup].name) and deletes it\(spelling.words)"
    case .delete(let phone, let soup, let pick, let spelling):
      "phone \(phone) deletes \(Soup.all[soup].name) row \(pick)\(spelling.words)"
    case .backUp(let phone): "phone \(phone) is backed up"
    case .syncUp(let phone, let soup, let most):
      "phone \(phone) sends up to \(most) rows of \(soup < 3 ? Soup.all[soup].name : "all soups")"
        + " by itself"
    case .syncDown(let phone): "phone \(phone) fetches by itself"
    case .revert(let phone): "phone \(phone) reverts its last edit"
    case .createSame(let phone):
      "phone \(phone) creates a visit with the external id of another phone's"
    case .createOver(let phone, let pick):
      "phone \(phone) creates a visit with the external id of visit \(pick)"
    case .createDetail(let phone, let pick): "phone \(phone) creates a contact of account \(pick)"
    case .editAddress(let phone, let pick):
      "phone \(phone) edits the city in the address of accounts row \(pick)"
    case .createFamily(let phone, let contacts):
      "phone \(phone) creates an account with \(contacts) contacts"
    case .moveDetail(let phone, let pick, let parent):
      "phone \(phone) gives contacts row \(pick) to account \(parent)"
    case .deleteParent(let phone, let isFormer):
      "phone \(phone) deletes the account that a moved contact "
        + (isFormer ? "had before" : "was given to")
    case .takeBack(let phone): "phone \(phone) takes its last deletion or edit back"
    case .decide(let back, let way, let wanted):
      "an operator decides the open edit \(back) before the last, way \(way)"
        + (wanted.map { ", \($0.rawValue) if possible" } ?? "")
    case .orgKey(let phone, let change):
      "another user \(change.rawValue) what has the external id of the last visit of phone \(phone)"
    case .fix(let phone, let pick, let field):
      "phone \(phone) changes open row \(pick) of its bundle, field \(field)"
    case .discard(let phone, let pick): "phone \(phone) reverts open row \(pick) of its bundle"
    case .spoil(let phone):
      "phone \(phone) edits the row of its last edit again, too long for the org"
    case .restore(let phone, let pick): "phone \(phone) is restored from backup \(pick)"
    case .returnStore(let phone): "phone \(phone) returns its store"
    case .returnAltering(let phone, let soup):
      "phone \(phone) returns its store with half-changed indexes of \(Soup.all[soup].name)"
    case .returnAgain(let pick): "file \(pick) is returned again"
    case .install(let phone): "phone \(phone) installs the newest bundle, if it may"
    case .orgChange(let work): "\(work)"
    case .clock(let seconds): "\(seconds) s pass"
    case .wait(let seconds): "\(seconds) s pass, and held requests stay held"
    case .lateArrival: "a held request arrives"
    case .run(let verb, let mishap): "\(verb)" + (mishap.map { ", \($0)" } ?? "")
    }
  }
}

extension Step.Spelling {
  var words: String {
    switch self {
    case .boolean: ""
    case .text: ", with flags as text"
    case .number: ", with flags as numbers"
    }
  }
}

struct OrgChange: Sendable, Hashable, CustomStringConvertible {
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

  var description: String {
    let record =
      switch target {
      case .record(let pick): "record \(pick)"
      case .ofPhone: "the record that a phone changed last"
      case .newest: "the newest record"
      case .ofMove: "the account that a moved contact was given to"
      }
    let what =
      switch action {
      case .update(let field): "changes \(record), field \(field)"
      case .delete: "deletes \(record)"
      case .undelete: "restores a record from the recycle bin"
      case .reassign: "gives \(record) to the other user"
      case .create: "creates a record"
      }
    return "another user \(what)" + (isSameSecond ? ", in the second of the previous change" : "")
  }
}

struct Mishap: Sendable, Hashable, CustomStringConvertible {
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

  var description: String {
    kind.rawValue + " (number \(nth)\(arrives ? ", which arrives" : ""))"
      + (times > 1 ? ", \(times) times" : "")
      + (then.map { ", then \($0)" } ?? "")
  }
}
