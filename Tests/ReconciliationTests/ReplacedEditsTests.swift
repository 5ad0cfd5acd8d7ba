import Ledger
import MobileSync
import Testing

struct ReplacedEditsTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  /// An edit whose requests got no answer and never arrived; it stays unconfirmed until the next
  /// run.
  private func doubtful(_ day: FieldDay, handback: Int64) async throws -> (String, Edit) {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    day.server.faults.add(.writes, nth: 1, times: 2, .drop(afterCommit: false))
    #expect(try await day.verdicts([edit], handback: handback) == "unconfirmed 1")
    return (id, edit)
  }

  @Test func `an unconfirmed edit that never arrived yields to the next one`() async throws {
    let (id, edit) = try await doubtful(day, handback: 1)
    try day.handBack([try edit.changed(["Phone": "3"], later: 5)], handback: 2)
    let writes = day.writes.count
    #expect(day.verdicts(try await day.run()) == "superseded 1, updated 1")
    #expect(day.writes.count == writes + 1)
    #expect(try day.record("Account", id)["Phone"] == "3")
  }

  @Test func `an unconfirmed edit that its device no longer has is not sent`() async throws {
    let (id, _) = try await doubtful(day, handback: 1)
    try day.handBack([], handback: 2)
    let writes = day.writes.count
    #expect(day.verdicts(try await day.run()) == "superseded 1")
    #expect(day.writes.count == writes)
    #expect(try day.record("Account", id)["Phone"] == "1")
  }

  private func conflict(_ day: FieldDay) async throws -> (id: String, Edit) {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    try day.change("Account", id, ["Phone": "office"])
    #expect(try await day.verdicts([edit]) == "conflict 1")
    return (id, edit)
  }

  @Test func `a later date alone does not replace an open edit`() async throws {
    let (_, edit) = try await conflict(day)
    #expect(try await day.verdicts([try edit.changed(["Phone": "3"], later: 5)]) == "conflict 1")
    #expect(try day.retries(1))
  }

  @Test func `a sent edit replaces its device's open edits of the record at once`() async throws {
    let (id, edit) = try await conflict(day)
    // The device has synced, and its user has continued.
    let fresh = try day.edited(account: id, ["Phone": "3"])
    var later = try edit.changed(["Phone": "3"], later: 5)
    later.element = fresh.element
    later.modificationDate = fresh.modificationDate
    #expect(try await day.verdicts([later]) == "superseded 1, updated 1")
    #expect(try !day.retries(1))
  }

  @Test func `another device's open edit stays open when one is sent`() async throws {
    day.options.deviceConflicts = .lastWins
    let (id, _) = try await conflict(day)
    let other = try day.edited(account: id, ["Phone": "3"])
    #expect(try await day.verdicts([other], user: day.ben) == "updated 1")
    #expect(try day.retries(1))
  }

  // MARK: several soups

  private func soups(_ mode: MergeMode = .leaveIfChanged) throws -> FieldDay {
    day.rules = ["accounts", "others"].map {
      FieldDay.rule($0, ["Name", "Phone", "Industry"], mode: mode)
    }
    return day
  }

  @Test func `an edit in one soup after reading another's write does not conflict`() async throws {
    let day = try soups()
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    #expect(try await day.verdicts([edit]) == "updated 1")
    // The write and this change are in different seconds.
    try day.change("Account", id, ["Industry": "Energy"])
    try day.handBack([try day.edited("others", "Account", id, ["Phone": "3"])])
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "3")
  }

  /// An edit in a second soup after one of the same record was sent in the first.
  struct Second: Sendable {
    var mode = MergeMode.leaveIfChanged
    var hasBase = true
    /// Its row was read in the second of the write, before it.
    var isSameSecond = false
    /// Another user has corrected what the device sent in the first soup.
    var isCorrected = false

    static let all = [
      Second(isSameSecond: true), Second(hasBase: false),
      Second(mode: .overwrite, isCorrected: true),
      Second(mode: .overwrite, isSameSecond: true, isCorrected: true),
    ]
  }

  @Test(arguments: Second.all)
  func `an edit in a second soup reverts nothing that the first one sent`(
    _ row: Second
  ) async throws {
    let day = try soups(row.mode)
    let id = try day.make("Account", ["Name": "One", "Phone": "1", "Industry": "Energy"])
    var second = try day.edited(
      "others", "Account", id, ["Industry": "Media"], hasBase: row.hasBase)
    try day.org.moveClock(by: 5000)
    #expect(try await day.verdicts([try day.edited(account: id, ["Phone": "2"])]) == "updated 1")
    if row.isSameSecond {
      let date = try #require(try day.record("Account", id)["LastModifiedDate"])
      second = try second.changed(["LastModifiedDate": date], later: 5)
      second.modificationDate = date.string
      second.base?.modificationDate = date.string
    }
    if row.isCorrected {
      try day.org.moveClock(by: 5000)
      try day.change("Account", id, ["Phone": "office"])
    }
    #expect(try await day.verdicts([second]) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == (row.isCorrected ? "office" : "2"))
    #expect(try day.record("Account", id)["Industry"] == "Media")
  }

  @Test func `if the last wins, another device's edit in a second soup is sent`() async throws {
    let day = try soups(.overwrite)
    day.options.deviceConflicts = .lastWins
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let edits = try ["accounts", "others"].map { soup in
      try day.edited(soup, "Account", id, ["Phone": .string(soup)])
    }
    try day.handBack([edits[0]])
    #expect(try await day.verdicts([edits[1]], user: day.ben) == "device conflict 1, updated 1")
    #expect(try day.record("Account", id)["Phone"] == "others")
  }
}
