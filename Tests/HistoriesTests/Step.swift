/// One step of a history: data alone, so that it can be left out, printed and done again.
///
/// A step names rows, records, backups and runs by a number that is taken modulo how many there are
/// when it is done, so that any step can be left out and the others still mean something.
enum Step: Sendable, Hashable, CustomStringConvertible {
  /// Somebody at a phone changes a field of a row.
  case edit(phone: Int, soup: Int, pick: Int, field: Int, Spelling, isTooLong: Bool)
  /// The row changed last is changed once more.
  case editAgain(phone: Int, field: Int)
  /// The record of the row changed last is changed in the other soup that holds it.
  case editInOtherSoup(phone: Int, field: Int)
  case create(phone: Int, soup: Int, Spelling)
  case createAndDelete(phone: Int, soup: Int, Spelling)
  case delete(phone: Int, soup: Int, pick: Int, Spelling)
  /// The phone's owner makes a backup of it.
  case backUp(phone: Int)
  /// The app sends by itself what is dirty: of one soup, or of all (3), and the first rows only.
  case syncUp(phone: Int, soup: Int, most: Int)
  /// The app fetches by itself what the org holds, into the rows that are clean.
  case syncDown(phone: Int)
  /// The row changed last is put back as it was, and is clean.
  case revert(phone: Int)
  /// A visit with the external id of one that another phone has made.
  case createSame(phone: Int)
  /// A visit with the external id of one that the phone was given.
  case createOver(phone: Int, pick: Int)
  /// A contact of an account that the phone was given.
  case createDetail(phone: Int, pick: Int)
  /// A part of an account's address is changed.
  case editAddress(phone: Int, pick: Int)
  /// A row that came open with the phone's bundle is changed.
  case mend(phone: Int, pick: Int, field: Int)
  /// A row that came open with the phone's bundle is put back, and is clean; a new one goes.
  case giveUp(phone: Int, pick: Int)
  /// The row changed last gets a value that is too long for the org.
  case spoil(phone: Int)
  /// The phone is restored from one of its backups.
  case restore(phone: Int, pick: Int)
  case handBack(phone: Int)
  /// A store comes back in the middle of a change of a soup's indexes: the app has saved its edits in the new table, and
  /// the copy of the old one has failed.
  case handBackAltering(phone: Int, soup: Int)
  /// A file that was handed back comes again, under another name.
  case handBackAgain(pick: Int)
  /// The newest bundle, where the app may install it (docs/app-integration.md).
  case install(phone: Int)
  case office(OfficeWork)
  case clock(seconds: Int)
  /// Time passes, and a request that a proxy holds is still held.
  case wait(seconds: Int)
  /// A request that a proxy has held arrives.
  case lateArrival
  case run(Verb, Mishap?)

  /// How an app writes the flags of Mobile Sync.
  enum Spelling: String, Sendable, Hashable, CaseIterable {
    case boolean, text, number
  }

  /// What of a pipeline is run.
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

  /// What the steps are counted by.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    case edit, editTooLong, editAgain, editInOtherSoup, create, createAndDelete, delete, flagText,
      flagNumber, backUp
    case syncUp, syncDown, revert, createSame, createOver, createDetail, editAddress, wait
    case mend, giveUp, spoil
    case restore, handBack, handBackAltering, handBackAgain, install, officeUpdate,
      officeSameSecond, officeDelete
    case officeUndelete, officeReassign, officeCreate, clock, lateArrival, run, verb, retry, undo
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
    case .wait: [.wait]
    case .mend: [.mend]
    case .giveUp: [.giveUp]
    case .spoil: [.spoil]
    case .restore: [.restore]
    case .handBack: [.handBack]
    case .handBackAltering: [.handBackAltering]
    case .handBackAgain: [.handBackAgain]
    case .install: [.install]
    case .office(let work): work.kinds
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
    case .revert(let phone): "phone \(phone) takes its last edit back"
    case .createSame(let phone):
      "phone \(phone) creates a visit with the external id of another phone's"
    case .createOver(let phone, let pick):
      "phone \(phone) creates a visit with the external id of visit \(pick)"
    case .createDetail(let phone, let pick):
      "phone \(phone) creates a contact of account \(pick)"
    case .editAddress(let phone, let pick):
      "phone \(phone) edits the city in the address of accounts row \(pick)"
    case .mend(let phone, let pick, let field):
      "phone \(phone) changes row \(pick) of those that came open, field \(field)"
    case .giveUp(let phone, let pick): "phone \(phone) gives row \(pick) up of those that came open"
    case .spoil(let phone):
      "phone \(phone) edits the row of its last edit again, too long for the org"
    case .restore(let phone, let pick): "phone \(phone) is restored from backup \(pick)"
    case .handBack(let phone): "phone \(phone) hands back"
    case .handBackAltering(let phone, let soup):
      "phone \(phone) hands back, and the indexes of \(Soup.all[soup].name) are half changed"
    case .handBackAgain(let pick): "file \(pick) that was handed back comes again"
    case .install(let phone): "phone \(phone) installs the newest bundle, if it may"
    case .office(let work): "\(work)"
    case .clock(let seconds): "\(seconds) s pass"
    case .wait(let seconds): "\(seconds) s pass, and what is held stays on its way"
    case .lateArrival: "a request that was held arrives"
    case .run(let verb, let mishap): "\(verb)" + (mishap.map { ", \($0)" } ?? "")
    }
  }
}

extension Step.Spelling {
  var words: String {
    switch self {
    case .boolean: ""
    case .text: ", its flags as texts"
    case .number: ", its flags as numbers"
    }
  }
}

/// What somebody in the office does in the org.
struct OfficeWork: Sendable, Hashable, CustomStringConvertible {
  enum Action: Sendable, Hashable {
    case update(field: Int)
    case delete, undelete, reassign, create
  }

  enum Target: Sendable, Hashable {
    /// A record of the org, in the order of their making.
    case record(Int)
    /// The record that a phone changed last.
    case ofPhone
    /// The newest record.
    case newest
  }

  var action: Action
  var target: Target
  /// Whether it is dated in the second of the change before.
  var isSameSecond: Bool

  var kinds: Set<Step.Kind> {
    let kind: Step.Kind =
      switch action {
      case .update: .officeUpdate
      case .delete: .officeDelete
      case .undelete: .officeUndelete
      case .reassign: .officeReassign
      case .create: .officeCreate
      }
    return isSameSecond ? [kind, .officeSameSecond] : [kind]
  }

  var description: String {
    let record =
      switch target {
      case .record(let pick): "record \(pick)"
      case .ofPhone: "the record that a phone changed last"
      case .newest: "the newest record"
      }
    let what =
      switch action {
      case .update(let field): "changes \(record), field \(field)"
      case .delete: "deletes \(record)"
      case .undelete: "takes a record out of the recycle bin"
      case .reassign: "gives \(record) to the other user"
      case .create: "creates a record"
      }
    return "the office \(what)" + (isSameSecond ? ", in the second of the previous change" : "")
  }
}

/// What goes wrong in one run.
struct Mishap: Sendable, Hashable, CustomStringConvertible {
  enum Kind: String, Sendable, Hashable, CaseIterable {
    case lostAnswer = "the answer to a write is lost"
    case lostRequest = "a write is lost"
    case lateRequest = "a write is held on its way"
    case killAtRequest = "killed at a request"
    case killAtWrite = "killed at a write"
    case killAtEvent = "killed between two events"
    case unavailable = "the org is away for a while"
  }

  var kind: Kind
  /// At which of the requests or events that it can strike.
  var nth: Int
  /// Whether a request at which the run is killed does its work.
  var arrives: Bool
  /// What the office does right afterwards.
  var then: OfficeWork?

  var description: String {
    kind.rawValue + " (number \(nth)\(arrives ? ", which arrives" : ""))"
      + (then.map { ", then \($0)" } ?? "")
  }
}
