import JSON
import Ledger
import LocalOrg
import MobileSync
import Reconciliation
import Testing

struct OwnCascadeTests {
  /// The device's writes below the record that it deletes.
  private static let works: [CascadeScene.Work] = [
    .changesDetail, .makesDetail, .changesDetailOfDetail, .makesDetailOfDetail,
    .changesDetailByExternalID,
  ]

  /// How a record came below the deleted one after the device was issued it.
  enum Move: String, CaseIterable { case byDevice, byOthers }

  /// How the deletion of an account and the move of its contact are sent.
  enum SyncUps: String, CaseIterable {
    /// By a sync up each.
    case separate
    /// By one sync up of accounts with their contacts.
    case family
    /// By such a sync up, and by one of contacts after it.
    case familyThenContacts

    func rules() throws -> [ReconciledSync] {
      let contacts = ["LastName", "Email", "AccountId", "Department"]
      let soup = self == .family ? "contacts" : "people"
      let family = try FieldDay.family(.masterDetail, ["Name"], contacts, children: soup)
      let separate = FieldDay.rule("contacts", contacts)
      switch self {
      case .separate: return [FieldDay.rule("accounts", ["Name"]), separate]
      case .family: return family
      case .familyThenContacts: return family + [separate]
      }
    }
  }

  private let scene: CascadeScene
  private var day: FieldDay { scene.day }
  private var other: String { scene.other }
  init() throws { scene = try CascadeScene() }

  /// An edit of a contact that is below the deleted account when it is reconciled.
  private func edit(_ move: Move) throws -> Edit {
    let id = try day.make("Contact", ["LastName": "Mover", "AccountId": .string(other)])
    switch move {
    case .byDevice:
      return try day.edited(contact: id, ["AccountId": .string(scene.account), "Department": "1"])
    case .byOthers:
      let edit = try day.edited(contact: id, ["Department": "1"])
      try day.change("Contact", id, ["AccountId": .string(scene.account)])
      return edit
    }
  }

  private func contacts(_ condition: String) throws -> Int {
    try day.count("SELECT Id FROM Contact WHERE \(condition)")
  }

  private func accounts() throws -> Int {
    try day.count("SELECT Id FROM Account WHERE Id = '\(scene.account)'")
  }

  // MARK: what the device deletes with the record

  @Test(arguments: works, [true, false])
  func `what a device writes below its own deletion is deleted, not sent`(
    _ work: CascadeScene.Work, _ isDeletionFirst: Bool
  ) async throws {
    let edits = [try scene.deletion(), try scene.edit(work)]
    #expect(try await day.verdicts(isDeletionFirst ? edits : edits.reversed()) == "deleted 2")
    #expect(day.writes.count == 1)
    let words = "it is deleted with its parent, which the device deleted"
    #expect(try day.details().compactMap(\.message) == [words])
    #expect(try day.state.unsettledEdits().isEmpty)
    #expect(try accounts() == 0)
  }

  @Test func `new records below each other are deleted with the record above them`() async throws {
    try day.handBack([
      try scene.deletion(), try scene.edit(.makesDetail),
      day.created("tasks", "Task", "local_2", ["Subject": "Call", "WhoId": "local_1"]),
    ])
    #expect(day.verdicts(try await day.run()) == "deleted 3")
    #expect(try contacts("LastName = 'New'") == 0)
  }

  @Test(arguments: [CascadeScene.Work.changesDetail, .makesDetail], [true, false])
  func `they are resolved with a deletion whose answer is lost`(
    _ work: CascadeScene.Work, _ afterCommit: Bool
  ) async throws {
    try day.handBack([try scene.deletion(), try scene.edit(work)])
    day.server.faults.add(.writes, .drop(afterCommit: afterCommit))
    #expect(day.verdicts(try await day.run()) == "deleted 2")
    #expect(try day.state.unsettledEdits().isEmpty)
    #expect(try accounts() == 0)
  }

  @Test func `they wait while the deletion is refused, and are sent when it is discarded`()
    async throws
  {
    _ = day.org.create(
      "Case", ["Subject": "Open", "AccountId": .string(scene.account)], as: day.admin)
    try day.handBack([try scene.deletion(), try scene.edit(.makesDetail)])
    #expect(day.verdicts(try await day.run()) == "blocked 1, failed 1")
    #expect(day.verdicts(try await day.run()) == "blocked 1")
    #expect(try contacts("LastName = 'New'") == 0)
    try day.decide(1, .discard)
    #expect(day.verdicts(try await day.run()) == "created 1, discarded 1")
    #expect(try contacts("LastName = 'New'") == 1)
  }

  // MARK: what the device does not delete with it

  @Test(arguments: Move.allCases, [ReconcileOptions.DeviceConflicts.manual, .firstWins, .lastWins])
  func `a record that was moved below a device's deletion conflicts with it`(
    _ move: Move, _ policy: ReconcileOptions.DeviceConflicts
  ) async throws {
    day.options.deviceConflicts = policy
    try day.handBack([try scene.deletion(), try edit(move)], issued: 0)
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    #expect(try day.details().map(\.otherEdits) == [[2], [1]])
    #expect(day.writes.isEmpty)
    #expect(day.verdicts(try await day.run()) == "")
    // The move is sent, and the deletion still needs a decision.
    try day.decide(2, .device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    try day.decide(1, .retry)
    #expect(day.verdicts(try await day.run()) == "device conflict 1")
    #expect(try contacts("LastName = 'Mover' AND Department = '1'") == 1)
    #expect(try accounts() == 1)
    try day.decide(1, .server)
    #expect(day.verdicts(try await day.run()) == "discarded 1")
  }

  @Test func `a decided deletion is sent, and the move below it stays open`() async throws {
    try day.handBack([try scene.deletion(), try edit(.byDevice)])
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    try day.decide(1, .device)
    #expect(day.verdicts(try await day.run()) == "deleted 1")
    #expect(try contacts("LastName = 'Mover' AND AccountId = '\(other)'") == 1)
    #expect(try day.state.unsettledEdits() == [.deviceConflict: 1])
  }

  @Test(arguments: SyncUps.allCases, [true, false])
  func `a record that the device moved away is kept`(
    _ syncUps: SyncUps, _ isDeletionFirst: Bool
  ) async throws {
    day.rules = try syncUps.rules()
    let edits = [
      try scene.deletion(), try day.edited(contact: scene.contact, ["AccountId": .string(other)]),
    ]
    try day.handBack(isDeletionFirst ? edits : edits.reversed())
    #expect(day.verdicts(try await day.run()) == "deleted 1, updated 1")
    #expect(try contacts("LastName = 'Child' AND AccountId = '\(other)'") == 1)
    #expect(try accounts() == 0)
  }

  @Test(arguments: SyncUps.allCases)
  func `a record that the device moved to a new one is kept`(_ syncUps: SyncUps) async throws {
    day.rules = try syncUps.rules()
    try day.handBack([
      try scene.deletion(), try day.edited(contact: scene.contact, ["AccountId": "local_1"]),
      day.account("local_1", ["Name": "New"]),
    ])
    #expect(day.verdicts(try await day.run()) == "created 1, deleted 1, updated 1")
    #expect(try contacts("LastName = 'Child' AND Account.Name = 'New'") == 1)
  }

  @Test(arguments: SyncUps.allCases)
  func `a record below a deleted detail that the device moved away is kept`(
    _ syncUps: SyncUps
  ) async throws {
    day.rules = try syncUps.rules() + [FieldDay.rule("tasks", ["Subject", "WhoId"])]
    let fields: JSONObject = ["LastName": "Own", "AccountId": .string(scene.account)]
    let own = try #require(day.org.create("Contact", fields, as: day.ada).id)
    let task = try day.make("Task", ["Subject": "Call", "WhoId": .string(own)])
    let target = try day.make("Contact", ["LastName": "Other", "AccountId": .string(other)])
    try day.handBack([
      try scene.deletion(), try day.edited(contact: own, [:], deleted: true),
      try day.edited("tasks", "Task", task, ["WhoId": .string(target)]),
    ])
    #expect(day.verdicts(try await day.run()) == "deleted 2, updated 1")
    #expect(try day.count("SELECT Id FROM Task WHERE WhoId = '\(target)'") == 1)
  }

  @Test(arguments: SyncUps.allCases)
  func `a deletion waits for a record that the device moved away and that is not sent`(
    _ syncUps: SyncUps
  ) async throws {
    day.rules = try syncUps.rules()
    let moved = try day.edited(contact: scene.contact, ["AccountId": .string(other)])
    try day.change("Contact", scene.contact, ["Department": "1"])
    try day.handBack([try scene.deletion(), moved], issued: 0)
    #expect(day.verdicts(try await day.run()) == "blocked 1, conflict 1")
    #expect(day.verdicts(try await day.run()) == "blocked 1")
    #expect(try contacts("LastName = 'Child' AND AccountId = '\(scene.account)'") == 1)
    try day.decide(2, .device)
    #expect(day.verdicts(try await day.run()) == "deleted 1, updated 1")
    #expect(try contacts("Department = '1' AND AccountId = '\(other)'") == 1)
  }

  @Test(arguments: SyncUps.allCases)
  func `a deletion waits for a record whose move away the org refuses`(
    _ syncUps: SyncUps
  ) async throws {
    day.rules = try syncUps.rules()
    let moved = try day.edited(
      contact: scene.contact, ["AccountId": .string(other), "Email": "no address"])
    #expect(try await day.verdicts([scene.deletion(), moved]) == "blocked 1, failed 1")
    #expect(try day.details().first?.otherEdits == [2])
    #expect(try contacts("LastName = 'Child' AND AccountId = '\(scene.account)'") == 1)
    try day.decide(2, .discard)
    #expect(day.verdicts(try await day.run()) == "deleted 1, discarded 1")
  }

  /// Sync ups that do not send a contact's account, and the verdicts of an edit without and with
  /// another field.
  ///
  /// That of a family sends it only if its list names the field.
  private static let withoutAccounts:
    [(rules: @Sendable () throws -> [ReconciledSync], verdicts: [String])] = [
      (
        { try FieldDay.family(.masterDetail, ["Name"], ["LastName", "Department"]) },
        ["not in field list", "updated"]
      ),
      (
        {
          [
            FieldDay.rule("accounts", ["Name"]),
            FieldDay.rule("contacts", ["LastName", "Department"]),
          ]
        }, ["not in field list", "updated"]
      ),
      ({ [FieldDay.rule("accounts", ["Name"])] }, ["not configured", "not configured"]),
    ]

  @Test(arguments: withoutAccounts.indices, [false, true])
  func `a deletion waits for a record whose move away no sync up sends`(
    _ number: Int, _ isEdited: Bool
  ) async throws {
    let (rules, verdicts) = Self.withoutAccounts[number]
    day.rules = try rules()
    var changes: JSONObject = ["AccountId": .string(other)]
    if isEdited { changes["Department"] = "1" }
    let moved = try day.edited(contact: scene.contact, changes)
    try day.handBack([try scene.deletion(), moved], issued: 0)
    let first = day.verdicts(try await day.run())
    #expect(first == "blocked 1, " + (isEdited ? verdicts[1] : verdicts[0]) + " 1")
    let words = try day.details().compactMap(\.message)
    #expect(
      words == [
        "a record that the device has moved away from it is still below it, because no sync up sends the reference"
      ])
    #expect(try await day.run().verdicts[.blocked] == 1)
    #expect(try contacts("LastName = 'Child' AND AccountId = '\(scene.account)'") == 1)
    try day.change("Contact", scene.contact, ["AccountId": .string(other)])
    #expect(try await day.run().verdicts[.deleted] == 1)
    #expect(try contacts("LastName = 'Child' AND AccountId = '\(other)'") == 1)
  }

  @Test func `a record that another user moved away is not moved back`() async throws {
    day.rules = [
      FieldDay.rule("accounts", ["Name"], mode: .overwrite),
      FieldDay.rule("contacts", ["LastName", "Department", "AccountId"], mode: .overwrite),
    ]
    let edit = try day.edited(contact: scene.contact, ["Department": "1"])
    try day.change("Contact", scene.contact, ["AccountId": .string(other)])
    #expect(try await day.verdicts([scene.deletion(), edit]) == "deleted 1, updated 1")
    #expect(try contacts("Department = '1' AND AccountId = '\(other)'") == 1)
  }
}
