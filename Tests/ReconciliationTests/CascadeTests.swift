import JSON
import Ledger
import Reconciliation
import Testing

struct CascadeTests {
  typealias Work = CascadeScene.Work

  struct Case: CustomTestStringConvertible {
    var work: Work
    var isOfOneUser: Bool
    var isDeletionFirst: Bool
    var testDescription: String {
      "\(work.rawValue), \(isOfOneUser ? "one user" : "two users"), deletion \(isDeletionFirst ? "first" : "last")"
    }

    static let all = Work.allCases.flatMap { work in
      [(true, true), (true, false), (false, true), (false, false)].map {
        Case(work: work, isOfOneUser: $0.0, isDeletionFirst: $0.1)
      }
    }
  }

  private let scene: CascadeScene
  private var day: FieldDay { scene.day }
  init() throws { scene = try CascadeScene() }

  private func handBack(_ edit: Edit, _ isFirst: Bool, _ isOfOneUser: Bool) throws {
    if isOfOneUser {
      let phone = isFirst ? "phone 1" : "phone 2"
      try day.handBack([edit], install: phone, stamp: "stamp of \(phone)", issued: 0)
    } else {
      try day.handBack([edit], user: isFirst ? day.ada : day.ben, issued: 0)
    }
  }

  private func isThere(_ object: String, _ id: String) throws -> Bool {
    try day.count("SELECT Id FROM \(object) WHERE Id = '\(id)'") == 1
  }

  @Test(arguments: Case.all, [true, false])
  func `a deletion and a write below it conflict before anything is sent`(
    _ one: Case, _ isOfFamily: Bool
  ) async throws {
    if isOfFamily {
      let fields = ["LastName", "Email", "AccountId", "Department"]
      day.rules[0...1] = try FieldDay.family(.masterDetail, ["Name"], fields)[...]
    }
    // The deletion is Ada's, because she owns the account.
    let edits = [(try scene.deletion(), true), (try scene.edit(one.work), false)]
    for (edit, isDeletion) in one.isDeletionFirst ? edits : edits.reversed() {
      try handBack(edit, isDeletion, one.isOfOneUser)
    }
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    #expect(day.writes.isEmpty)
    #expect(try isThere("Account", scene.account))
    #expect(try day.details().map(\.otherEdits) == [[2], [1]])
    // The deletion is discarded, and the other edit is sent.
    let deleted: Int64 = one.isDeletionFirst ? 1 : 2
    try day.decide(deleted, .server)
    try day.decide(3 - deleted, .device)
    #expect(try await day.run().verdicts[.discarded] == 1)
    #expect(try day.state.unsettledEdits().isEmpty)
    #expect(try isThere("Account", scene.account))
  }

  @Test func `a write below a record that its device knows by its local ID conflicts`() async throws
  {
    func handBack(_ edit: Edit, phone: Int, _ handback: Int64) throws {
      try day.handBack(
        [edit], install: "phone \(phone)", handback: handback, stamp: "stamp \(phone)", issued: 0)
    }
    try handBack(day.account("local_1", ["Name": "New"]), phone: 1, 1)
    #expect(day.verdicts(try await day.run()) == "created 1")
    let made = try #require(try day.details().first?.recordID)
    try handBack(day.contact("local_2", ["LastName": "New", "AccountId": "local_1"]), phone: 1, 2)
    try handBack(try day.edited(account: made, [:], deleted: true), phone: 2, 1)
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    #expect(try isThere("Account", made))
  }

  @Test func `deletions of a record and of its detail conflict with a write below both`()
    async throws
  {
    let edits = [try scene.deletion(), try day.edited(contact: scene.contact, [:], deleted: true)]
    let write = try scene.edit(.changesDetailOfDetail)
    try day.handBack(edits, install: "phone 1", stamp: "stamp of phone 1", issued: 0)
    try handBack(write, false, true)
    #expect(day.verdicts(try await day.run()) == "device conflict 3")
    #expect(day.writes.isEmpty)
    #expect(try day.details().map(\.otherEdits) == [[3], [3], [1, 2]])
  }

  @Test func `a write below a waiting deletion is not deleted later`() async throws {
    try handBack(try scene.deletion(), true, true)
    try handBack(try scene.edit(.changesDetail), false, true)
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    try day.decide(2, .device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    try day.decide(1, .retry)
    #expect(day.verdicts(try await day.run()) == "device conflict 1")
    #expect(try isThere("Contact", scene.contact))
    try day.decide(1, .device)
    #expect(day.verdicts(try await day.run()) == "deleted 1")
    #expect(try !isThere("Contact", scene.contact))
  }

  @Test func `a decided deletion is sent, and writes below it stay open`() async throws {
    try handBack(try scene.deletion(), true, true)
    try handBack(try scene.edit(.makesDetail), false, true)
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    try day.decide(1, .device)
    #expect(day.verdicts(try await day.run()) == "deleted 1")
    #expect(try day.state.unsettledEdits() == [.deviceConflict: 1])
  }

  /// An edit that arrives after the decision: below the record, or of the record itself.
  @Test(arguments: Work.allCases.map(Optional.some) + [nil], [true, false])
  func `a decided deletion conflicts with an edit that its operator was not shown`(
    _ work: Work?, _ isOfOneUser: Bool
  ) async throws {
    try handBack(try scene.deletion(), true, isOfOneUser)
    let late = try work.map(scene.edit) ?? day.edited(account: scene.account, ["Phone": "1"])
    try day.change("Account", scene.account, ["Industry": "Energy"])
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    try day.decide(1, .device)
    try handBack(late, false, isOfOneUser)
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    #expect(day.writes.isEmpty)
    // The operator is shown it, then what another user changed, and decides each time.
    for _ in 0..<2 where try isThere("Account", scene.account) {
      try day.decide(1, .device)
      _ = try await day.run()
    }
    #expect(try !isThere("Account", scene.account))
    #expect(try day.state.unsettledEdits() == [.deviceConflict: 1])
  }

  @Test func `a deletion does not wait for edits that are not below it`() async throws {
    let other = try day.make("Contact", ["LastName": "Other"])
    try handBack(try scene.deletion(), true, true)
    try handBack(try day.edited(contact: other, ["Department": "1"]), false, true)
    #expect(day.verdicts(try await day.run()) == "deleted 1, updated 1")
  }

  @Test(arguments: [ReconcileOptions.DeviceConflicts.firstWins, .lastWins])
  func `a policy decides which is sent`(_ policy: ReconcileOptions.DeviceConflicts) async throws {
    day.options.deviceConflicts = policy
    try handBack(try scene.deletion(), true, false)
    try handBack(try scene.edit(.changesDetail), false, false)
    let summary = try await day.run()
    let isDeleted = policy == .firstWins
    #expect(try isThere("Account", scene.account) == !isDeleted)
    #expect(summary.verdicts[isDeleted ? .deleted : .updated] == 1)
    #expect(try day.state.unsettledEdits().values.reduce(0, +) == 1)
  }
}
