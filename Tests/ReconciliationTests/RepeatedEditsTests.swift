import Ledger
import Testing

struct RepeatedEditsTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private func sent() async throws -> (String, Edit) {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    #expect(try await day.verdicts([edit], handback: 1) == "updated 1")
    return (id, edit)
  }

  @Test func `a resolved edit returned again is superseded by itself, always`() async throws {
    let (id, edit) = try await sent()
    try day.change("Account", id, ["Phone": "office"])
    #expect(try await day.verdicts([edit], handback: 2) == "superseded 1")
    #expect(try day.details().map(\.otherEdits) == [[1]])
    #expect(try day.record("Account", id)["Phone"] == "office")
  }

  @Test func `an edit sent and saved again unchanged has its own verdict`() async throws {
    var (id, edit) = try await sent()
    try day.change("Account", id, ["Phone": "office"])
    edit.lastModified += 5
    #expect(try await day.verdicts([edit], handback: 2) == "unchanged 1")
  }

  @Test func `an older return that arrives late names the edit that replaced it`() async throws {
    let (id, older) = try day.made(
      "Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    var newer = try day.edited(account: id, ["Phone": "3"])
    newer.row = older.row
    try day.handBack([newer], handback: 2)
    #expect(try await day.verdicts([older], handback: 1) == "superseded 1, updated 1")
    #expect(try day.details().map(\.otherEdits).contains([1]))
    #expect(try day.record("Account", id)["Phone"] == "3")
  }
}
