import JSON
import LocalOrg
import Testing

struct ReadBackTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private static func made(_ org: LocalOrg.Org, _ admin: OrgUser) throws -> String {
    let made = try org.query(
      "SELECT Id FROM Account WHERE Name = 'Fresh'", as: admin, includeDeleted: false)
    return try #require(try JSONValue(parsing: made.records).array?.first?["Id"]?.string)
  }

  /// Creates a record that disappears before it is read back; returns the verdict's message.
  private func words(
    _ day: FieldDay, _ change: @escaping @Sendable (LocalOrg.Org, String) throws -> Void
  ) async throws -> String {
    let admin = day.admin
    day.server.faults.add(
      .kind(.retrieve), nth: 1, times: 1, .mutate { try change($0, Self.made($0, admin)) })
    #expect(try await day.verdicts([day.account("local_1", ["Name": "Fresh"])]) == "created 1")
    return try day.details().first?.message ?? ""
  }

  @Test func `a record deleted at once is reported as deleted`() async throws {
    let admin = day.admin
    let words = try await words(day) { org, id in _ = org.delete("Account", id: id, as: admin) }
    #expect(words == "the record could not be read back: it has been deleted")
  }

  @Test func `a record merged at once is reported with the survivor`() async throws {
    let other = try day.make("Account", ["Name": "Other"])
    let words = try await words(day) { org, id in try org.merge(id, into: other) }
    #expect(words == "the record could not be read back: it has been merged into \(other)")
  }

  @Test func `a record hidden from its sender at once is reported as such`() async throws {
    let ben = day.ben
    let words = try await words(day) { org, id in try org.transfer(id, to: ben.username) }
    #expect(words == "the record could not be read back: its sender can no longer see it")
  }

  @Test func `a record purged at once is reported as gone`() async throws {
    let admin = day.admin
    let words = try await words(day) { org, id in
      _ = org.delete("Account", id: id, as: admin)
      try org.purge(id)
    }
    #expect(
      words == "the record could not be read back: it is not visible, not even in the recycle bin")
  }

  @Test func `a reader without proof still reports that the record is unreadable`() async throws {
    day.hasIntegration = false
    let ben = day.ben
    let words = try await words(day) { org, id in try org.transfer(id, to: ben.username) }
    #expect(words.hasPrefix("the record could not be read back"))
  }

  @Test func `readable records cause no query and no message`() async throws {
    #expect(try await day.verdicts([day.account("local_1", ["Name": "Fresh"])]) == "created 1")
    #expect(try day.details().first?.message == nil)
    #expect(!day.server.log.entries.contains { $0.path.hasSuffix("/queryAll") })
  }
}
