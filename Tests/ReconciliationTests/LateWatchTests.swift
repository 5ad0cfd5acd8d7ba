import JSON
import Ledger
import LocalOrg
import Testing

/// The effects of a request that arrives late.
///
/// It is open until an operator decides, whatever the outcome of its edit was by then. The test
/// combines all writes with all ways to resolve their edits.
struct LateWatchTests {
  /// The operation of the lost request.
  enum Verb: String, CaseIterable { case update, create, delete, upsert }

  /// How its edit is resolved before it arrives.
  enum Way: String, CaseIterable {
    /// The second attempt is answered.
    case sentAgain
    /// An operator takes the org's side, or the device's.
    case server, device
    /// An operator discards the edit.
    case dropped
    case record
    case replaced
    /// A later edit of the device was sent before it arrives.
    case followed
    case undone
    /// The device has discarded it.
    case takenBack
  }

  struct Case: CustomTestStringConvertible {
    var verb: Verb
    var way: Way
    var testDescription: String { "\(verb.rawValue), \(way.rawValue)" }

    /// The ways in which a run applies a decision, which it may find with the request's effect.
    ///
    /// A second deletion has no effect before the first is undone.
    static let decided = all.filter {
      [.server, .device, .dropped, .record, .undone].contains($0.way)
        && ($0.verb, $0.way) != (.delete, .undone)
    }

    static let all = Verb.allCases.flatMap { verb in
      Way.allCases.compactMap { way -> Case? in
        let isPossible =
          switch (verb, way) {
          case (.update, .record), (.delete, .record), (.upsert, .record): false
          // A deletion is the last edit of its row.
          case (.delete, .replaced), (.delete, .followed): false
          // An unconfirmed create has no other side to choose, and is not replaced before its
          // outcome is known.
          case (.create, .server), (.create, .device), (.create, .replaced), (.create, .takenBack):
            false
          case (.create, .dropped): true
          case (.upsert, .takenBack), (.upsert, .device), (.upsert, .server), (.upsert, .dropped):
            false
          case (.upsert, .replaced), (.upsert, .undone): false
          default: true
          }
        return isPossible ? Case(verb: verb, way: way) : nil
      }
    }
  }

  private let day: FieldDay
  init() throws {
    day = try FieldDay()
    day.options.unansweredWaitSeconds = 900
    day.options.conditionalUpdates = false
    day.rules.append(
      FieldDay.rule("visits", ["Name", "Notes__c", "External_Id__c"], externalID: "External_Id__c"))
  }

  private func kind(_ verb: Verb) -> RequestKind {
    switch verb {
    case .update: .collectionUpdate
    case .create: .collectionCreate
    case .delete: .collectionDelete
    case .upsert: .collectionUpsert
    }
  }

  private func edit(_ verb: Verb) throws -> (edit: Edit, id: String?) {
    switch verb {
    case .create:
      let fields: JSONObject = ["LastName": "Lovelace", "Department": "Analysis"]
      return (day.contact("local_1", fields), nil)
    case .upsert:
      let fields: JSONObject = ["Name": "Device", "Notes__c": "seen", "External_Id__c": "V-1"]
      return (day.created("visits", "Site_Visit__c", "local_1", fields), nil)
    case .update, .delete:
      // A technician may only delete the technician's own records.
      let made = day.org.create("Account", ["Name": "Mill", "Phone": "0"], as: day.ada)
      let id = try #require(made.id)
      let changes: JSONObject = verb == .update ? ["Phone": "1"] : [:]
      return (try day.edited(account: id, changes, deleted: verb == .delete), id)
    }
  }

  private func night(_ seconds: Int64 = 600) async throws {
    try day.org.moveClock(by: seconds * 1000)
    _ = try await day.run()
  }

  private func decide(_ decision: Decision, _ edit: Int64 = 1) throws {
    try day.decide(edit, decision)
  }

  private func verdict(_ edit: Int64 = 1) throws -> String? {
    try day.state.connection.text("SELECT verdict FROM edit WHERE id = \(edit)")
  }

  /// The org's users change the record, or restore it.
  private func office(_ verb: Verb, _ id: String?) throws {
    try day.org.moveClock(by: 60_000)
    switch verb {
    case .update: try day.change("Account", try #require(id), ["Phone": "office"])
    case .delete:
      let id = try #require(id)
      #expect(day.org.undelete(id, as: day.admin).errors.isEmpty)
    case .upsert:
      let found = try day.org.find(
        "Site_Visit__c", externalField: "External_Id__c", value: "V-1", as: day.admin)
      try day.change("Site_Visit__c", try #require(found), ["Name": "Office"])
    case .create: break
    }
    try day.org.moveClock(by: 60_000)
  }

  /// Loses the first request of an edit, and resolves the edit in one of the ways.
  ///
  /// With `isMeanwhile`, the request arrives between the decision and the run that would apply it.
  private func resolve(
    _ one: Case, _ edit: Edit, _ id: String?, isMeanwhile: Bool = false
  ) async throws {
    try day.handBack([edit], handback: 1)
    let isContested = [.server, .device, .dropped, .replaced, .takenBack].contains(one.way)
    day.server.faults.add(.kind(kind(one.verb)), .deliverLate(seconds: 1_000_000))
    if isContested, let id {
      // The org's users change the record before the request is looked up.
      day.server.faults.add(.kind(kind(one.verb)), .update(id, ["Phone": "office"]))
    }
    try await night()
    if one.verb == .create {
      #expect(try verdict() == "unconfirmed")
      switch one.way {
      case .dropped: try decide(.discard)
      case .record:
        let other = day.org.create("Contact", ["LastName": "Byron"], as: day.ada)
        try decide(.record(try #require(other.id)))
      default: break
      }
      if isMeanwhile, one.way != .undone { day.server.deliverHeld() }
      try await night(1_000)
    }
    switch one.way {
    case .sentAgain, .record: break
    case .server: try decide(.server)
    case .device: try decide(.device)
    case .dropped: if one.verb != .create { try decide(.server) }
    case .replaced, .followed:
      var later = try edit.changed(["Phone": "2", "Department": "Poetry", "Notes__c": "2"])
      if one.way == .replaced, let id { later = try self.edit(later, at: id) }
      try day.handBack([later], handback: 2)
    case .undone: try day.state.decide([PendingDecision(1, .undo(run: try lastRun()))], by: "grace")
    case .takenBack: try day.handBack([], handback: 2)
    }
    if isMeanwhile { day.server.deliverHeld() }
    try await night()
  }

  private func lastRun() throws -> String {
    try #require(
      try day.state.connection.text(
        "SELECT run_id FROM operation WHERE state = 'done' ORDER BY id DESC"))
  }

  /// A later edit of a row that has seen the org's values.
  private func edit(_ edit: Edit, at id: String) throws -> Edit {
    var element = try #require(try JSONValue(parsing: edit.element).object)
    let date = try day.record("Account", id)["LastModifiedDate"]
    element["LastModifiedDate"] = date
    var later = edit
    later.element = JSONValue.object(element).bytes
    later.modificationDate = date?.string
    later.base = MergeBase(modificationDate: date?.string, fields: try day.record("Account", id))
    return later
  }

  private func open() throws -> [Int64] {
    try day.state.connection.all(
      "SELECT e.id FROM edit e WHERE \(LedgerDatabase.isUnsettledEdit) ORDER BY e.id"
    ).compactMap { $0[0].integer }
  }

  /// Decides about open edits as the report advises.
  private func acknowledge() throws {
    for edit in try open() {
      let found = try #require(try day.state.decidable(edit))
      let isTwice = found.subject.verdict == .duplicateCreated
      try decide(isTwice ? .record(try #require(found.twins.first)) : .server, edit)
    }
  }

  private func expectQuiet(_ sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await night()
    #expect(try open() == [], sourceLocation: sourceLocation)
  }

  /// Decides about the open edits, which are not reported again.
  private func expectSettled(_ sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try acknowledge()
    for _ in 0..<2 { try await expectQuiet(sourceLocation) }
  }

  /// Loses the first request of an edit, whose second one is answered; returns the edit's record.
  @discardableResult private func sentAgain(_ verb: Verb) async throws -> String? {
    let (edit, id) = try edit(verb)
    try await resolve(Case(verb: verb, way: .sentAgain), edit, id)
    return id
  }

  @Test(arguments: Case.all)
  func `the effect of a late request is open until it is decided`(_ one: Case) async throws {
    let (edit, id) = try edit(one.verb)
    try await resolve(one, edit, id)
    #expect(try open() == [])
    let changes = one.way == .sentAgain || one.way == .device || one.way == .followed
    if changes, one.verb != .create { try office(one.verb, id) }
    day.server.deliverHeld()
    try await night()
    let opened = try open()
    #expect(!opened.isEmpty, "the run reports it")
    if one.way == .takenBack {
      let message = try day.details().first?.message ?? ""
      #expect(message.contains("arrived late") && message.contains("reported as superseded"))
    }
    try day.handBack([], handback: 8)
    try await night()
    #expect(try open() == opened)
    try await expectSettled()
  }

  @Test(arguments: Verb.allCases)
  func `the first run after a request's seven days looks for it again`(_ verb: Verb)
    async throws
  {
    let (edit, id) = try edit(verb)
    let way: Way = verb == .create ? .record : .sentAgain
    try await resolve(Case(verb: verb, way: way), edit, id)
    #expect(try open() == [])
    if verb != .create { try office(verb, id) }
    day.server.deliverHeld()
    try await night(8 * 24 * 60 * 60)
    #expect(try !open().isEmpty)
  }

  @Test(arguments: Case.decided)
  func `a decision made before a late request was found is asked again`(_ one: Case) async throws {
    let (edit, id) = try edit(one.verb)
    try await resolve(one, edit, id, isMeanwhile: true)
    #expect(try open() == [1])
    let isTwice = one.verb == .create && one.way != .dropped
    #expect(try verdict() == (isTwice ? "duplicate created" : "conflict"))
    try day.handBack([], handback: 8)
    try await night()
    #expect(try open() == [1])
    try await expectSettled()
  }

  @Test func `a late request is open if it arrives before a delayed undo`() async throws {
    let (edit, id) = try edit(.update)
    try await resolve(Case(verb: .update, way: .sentAgain), edit, id)
    try day.state.decide([PendingDecision(1, .undo(run: try lastRun()))], by: "grace")
    day.options.deadline = 0
    try await night()
    #expect(try verdict() == "not attempted")
    day.options.deadline = nil
    day.server.deliverHeld()
    try await night()
    #expect(try verdict() == "conflict")
  }

  @Test func `an undo without an answer is done although its device discards the edit`()
    async throws
  {
    let (edit, id) = try edit(.update)
    try day.handBack([edit], handback: 1)
    try await night()
    #expect(try verdict() == "updated")
    try day.state.decide([PendingDecision(1, .undo(run: try lastRun()))], by: "grace")
    day.server.faults.add(.writes, .drop(afterCommit: true))
    try day.handBack([], handback: 2)
    try await night()
    #expect(try verdict() == "undone")
    #expect(try day.record("Account", try #require(id))["Phone"]?.string == "0")
  }

  @Test func `a late upsert that recreates a record deleted since is open`() async throws {
    try await sentAgain(.upsert)
    let first = try #require(
      try day.org.find(
        "Site_Visit__c", externalField: "External_Id__c", value: "V-1", as: day.admin))
    #expect(day.org.delete("Site_Visit__c", id: first, as: day.admin).errors.isEmpty)
    try day.org.moveClock(by: 60_000)
    day.server.deliverHeld()
    try await night()
    #expect(try verdict() == "duplicate created")
    try await night()
    #expect(try open() == [1])
    try await expectSettled()
  }

  @Test(arguments: [true, false])
  func `a record deleted again after an undo is open only if its sender deleted it`(
    _ isSenders: Bool
  ) async throws {
    let (edit, id) = try edit(.delete)
    try day.handBack([edit], handback: 1)
    day.server.faults.add(.kind(.collectionDelete), .drop(afterCommit: true))
    try await night()
    #expect(try verdict() == "deleted")
    try day.state.decide([PendingDecision(1, .undo(run: try lastRun()))], by: "grace")
    try await night()
    #expect(try verdict() == "undone")
    let deletion = day.org.delete(
      "Account", id: try #require(id), as: isSenders ? day.ada : day.admin)
    #expect(deletion.errors.isEmpty)
    try await night()
    #expect(try verdict() == (isSenders ? "conflict" : "undone"))
  }

  @Test func `an unconfirmed deletion that its device discards is open if it arrived`() async throws
  {
    let (edit, _) = try edit(.delete)
    try day.handBack([edit], handback: 1)
    day.server.faults.add(.kind(.collectionDelete), times: 2, .deliverLate(seconds: 1_000_000))
    try await night()
    #expect(try verdict() == "unconfirmed")
    try day.handBack([], handback: 2)
    day.server.deliverHeld()
    try await night()
    #expect(try verdict() == "conflict")
    try await expectSettled()
  }

  @Test func `a late create is open even if a later edit was sent before`() async throws {
    let (edit, _) = try edit(.create)
    try await resolve(Case(verb: .create, way: .followed), edit, nil)
    #expect(try verdict(2) == "updated")
    day.server.deliverHeld()
    try await night()
    try await night()
    #expect(try verdict(1) == "duplicate created")
    #expect(try open() == [1])
  }

  @Test func `the same request is not new while our last write is unchanged`() async throws {
    try await sentAgain(.update)
    try await expectQuiet()
    #expect(try verdict() == "updated")
  }

  @Test func `a request whose condition no longer holds has not arrived`() async throws {
    day.options.conditionalUpdates = true
    let (edit, id) = try edit(.update)
    try day.handBack([edit], handback: 1)
    day.server.faults.add(.kind(.composite), .drop(afterCommit: false))
    try await night()
    #expect(try verdict() == "updated")
    try day.org.moveClock(by: 60_000)
    // The sender's own change in the org.
    _ = day.org.update("Account", id: try #require(id), ["Fax": "1"], as: day.ada)
    try await expectQuiet()
  }

  // MARK: changes before the run that finds it

  /// The edit is open with a message; it is closed by a decision, and not reported again.
  private func expectOpen(
    _ expected: String, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let message = try day.details().compactMap(\.message).joined(separator: "\n")
    #expect(try verdict() == expected, sourceLocation: sourceLocation)
    for part in parts {
      #expect(message.contains(part), "\(message)", sourceLocation: sourceLocation)
    }
    try await expectSettled(sourceLocation)
  }

  /// Another user changes a record after a request has arrived.
  private func changeLater(_ object: String, _ id: String, _ fields: JSONObject) throws {
    try day.org.moveClock(by: 60_000)
    try day.change(object, id, fields)
  }

  private func visit() throws -> String {
    try #require(
      try day.org.find(
        "Site_Visit__c", externalField: "External_Id__c", value: "V-1", as: day.admin))
  }

  @Test(arguments: [["Fax": "1"], ["Phone": "1"]] as [JSONObject])
  func `an update may have arrived if its value came back, even if another user wrote last`(
    _ change: JSONObject
  ) async throws {
    let id = try await sentAgain(.update)
    try office(.update, id)
    try await expectQuiet()
    // Without the request, it is the other user who enters the value.
    if change["Phone"] == nil { day.server.deliverHeld() }
    try changeLater("Account", try #require(id), change)
    try await night()
    try await expectOpen("conflict", "may have arrived late", "came back in Phone")
    #expect(try day.record("Account", try #require(id))["Phone"]?.string == "1")
  }

  @Test func `a value that stayed the same does not count as a late request`() async throws {
    let id = try await sentAgain(.update)
    for fax in ["1", "2"] {
      try changeLater("Account", try #require(id), ["Fax": .string(fax)])
      try await expectQuiet()
    }
  }

  @Test func `a value that another edit wrote does not count as a late request`() async throws {
    let (edit, id) = try edit(.update)
    try await resolve(Case(verb: .update, way: .sentAgain), edit, id)
    try office(.update, id)
    try await night()
    let later = try self.edit(edit.changed(["Phone": "1"]), at: try #require(id))
    try day.handBack([later], handback: 2)
    try await night()
    #expect(try day.record("Account", try #require(id))["Phone"]?.string == "1")
    try changeLater("Account", try #require(id), ["Fax": "1"])
    try await expectQuiet()
  }

  @Test func `a late create is a duplicate although its record was changed since`() async throws {
    try await sentAgain(.create)
    let first = try #require(
      try day.state.connection.text("SELECT result_id FROM operation WHERE state = 'done'"))
    // The sender creates another record, and another user changes that as well.
    let fields: JSONObject = ["LastName": "Byron", "Department": "Analysis"]
    let other = try #require(day.org.create("Contact", fields, as: day.ada).id)
    try changeLater("Contact", other, ["Title": "Countess"])
    try await expectQuiet()
    day.server.deliverHeld()
    let page = try day.org.query(
      "SELECT Id FROM Contact WHERE LastName = 'Lovelace' AND Id != '\(first)'", as: day.admin,
      includeDeleted: false)
    let records = try JSONValue(parsing: page.records).array ?? []
    let second = try #require(records.first?["Id"]?.string)
    try changeLater("Contact", second, ["Department": "Poetry"])
    try await night()
    try await expectOpen("duplicate created", "arrived late", "in Department")
  }

  @Test(arguments: [false, true])
  func `a late upsert whose key another user changed is a duplicate`(_ isChanged: Bool) async throws
  {
    try await sentAgain(.upsert)
    try changeLater("Site_Visit__c", try visit(), ["External_Id__c": "V-2"])
    try await expectQuiet()
    day.server.deliverHeld()
    if isChanged { try changeLater("Site_Visit__c", try visit(), ["Name": "Office"]) }
    try await night()
    try await expectOpen("duplicate created", "arrived late")
  }

  @Test(arguments: [false, true])
  func `a late upsert over another user's record is a duplicate`(_ isChanged: Bool) async throws {
    try await sentAgain(.upsert)
    #expect(day.org.delete("Site_Visit__c", id: try visit(), as: day.admin).errors.isEmpty)
    try await night()
    try day.org.moveClock(by: 60_000)
    let other = try day.make("Site_Visit__c", ["Name": "Office", "External_Id__c": "V-1"])
    try await expectQuiet()
    day.server.deliverHeld()
    #expect(try day.record("Site_Visit__c", other)["Name"]?.string == "Device")
    if isChanged { try changeLater("Site_Visit__c", other, ["Name": "Office"]) }
    try await night()
    try await expectOpen("duplicate created", "arrived late", "another user had created \(other)")
  }

  @Test func `a late upsert of a known record whose key another user changed is open`()
    async throws
  {
    let (edit, _) = try edit(.upsert)
    let known = try day.make("Site_Visit__c", ["Name": "Old", "External_Id__c": "V-1"])
    try day.handBack([edit], handback: 1)
    day.server.faults.add(.kind(kind(.upsert)), .deliverLate(seconds: 1_000_000))
    day.server.faults.add(
      .kind(kind(.upsert)), .update(known, ["Name": "Office"], of: "Site_Visit__c"))
    try await night()
    #expect(try verdict() == "conflict")
    try decide(.server)
    try await expectQuiet()
    day.server.deliverHeld()
    #expect(try day.record("Site_Visit__c", known)["Name"]?.string == "Device")
    try changeLater("Site_Visit__c", known, ["External_Id__c": "V-2"])
    try await night()
    try await expectOpen("conflict", "may have arrived late", "in Name")
  }

  // MARK: what looks like the request

  /// What makes a record look as if an unanswered request had arrived.
  struct Likeness: CustomTestStringConvertible {
    var verb: Verb
    /// Whether the request's sender does it in the org, or another user.
    var isSenders: Bool
    /// Whether a run looks between the next change and the request.
    var isSeen: Bool
    var testDescription: String { "\(verb.rawValue), \(isSenders), \(isSeen)" }

    static let all = Verb.allCases.flatMap { verb in
      [(false, false), (false, true), (true, false), (true, true)].map {
        Likeness(verb: verb, isSenders: $0.0, isSeen: $0.1)
      }
    }.filter { $0.verb != .create || $0.isSenders }
  }

  /// Does what the request would do, as a user of the org.
  private func imitate(_ one: Likeness, _ id: String?) throws {
    let user = one.isSenders ? day.ada : day.admin
    let visit: JSONObject = ["Name": "Device", "Notes__c": "seen", "External_Id__c": "V-1"]
    if one.verb == .upsert, !one.isSenders { return _ = try day.make("Site_Visit__c", visit) }
    let errors =
      switch one.verb {
      case .update:
        day.org.update("Account", id: try #require(id), ["Phone": "1"], as: user).errors
      case .delete: day.org.delete("Account", id: try #require(id), as: user).errors
      case .create:
        day.org.create("Contact", ["LastName": "Lovelace", "Department": "Analysis"], as: user)
          .errors
      case .upsert: day.org.create("Site_Visit__c", visit, as: user).errors
      }
    #expect(errors.isEmpty)
  }

  @Test(arguments: Likeness.all)
  func `a request is watched although a user did the same while it was unanswered`(
    _ one: Likeness
  ) async throws {
    let (edit, id) = try edit(one.verb)
    try day.handBack([edit], handback: 1)
    day.server.faults.add(.kind(kind(one.verb)), times: 2, .deliverLate(seconds: 1_000_000))
    try await night()
    #expect(try verdict() == "unconfirmed")
    try day.org.moveClock(by: 300_000)
    try imitate(one, id)
    try await night(one.verb == .create ? 1_000 : 600)
    #expect(try open() == [])
    if one.verb != .create { try office(one.verb, id) }
    if one.isSeen {
      try await expectQuiet()
    }
    try day.org.moveClock(by: 30_000)
    day.server.deliverHeld()
    try await night()
    #expect(try open() == [1])
    try await expectSettled()
  }

  @Test func `an update is watched after a user entered its value`() async throws {
    let id = try await sentAgain(.update)
    try office(.update, id)
    try await night()
    try changeLater("Account", try #require(id), ["Phone": "1"])
    try await night()
    try await expectOpen("conflict", "may have arrived late")
    try office(.update, id)
    day.server.deliverHeld()
    try await night()
    try await expectOpen("conflict", "arrived late")
  }

  @Test func `a request that has arrived does not arrive again with its sender's changes`()
    async throws
  {
    let (edit, id) = try edit(.update)
    try day.handBack([edit], handback: 1)
    day.server.faults.add(.kind(kind(.update)), .drop(afterCommit: true))
    try await night()
    #expect(try verdict() == "updated")
    _ = day.org.update("Account", id: try #require(id), ["Fax": "1"], as: day.ada)
    try await expectQuiet()
  }
}
