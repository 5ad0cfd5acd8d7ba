import LocalOrg
import Testing

/// A query that the org cannot answer, for any user and any number of times: edits that need the
/// answer are not attempted.
struct UnansweredReadsTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  /// From now on the org answers 500 to a query about contacts, or to any query.
  private func fail(_ match: FaultMatch) {
    day.server.faults.add(
      match, times: 100_000, .status(500, code: "UNKNOWN_EXCEPTION", message: "gack"))
  }

  private static let retrieve = FaultMatch(
    pathPrefix: "/services/data/v66.0/composite/sobjects/Contact")

  private static let describe = FaultMatch(
    pathPrefix: "/services/data/v66.0/sobjects/Contact/describe")

  /// Ada's edit of a contact and Ben's of an account; the account.
  private func handBack() throws -> (contact: String, account: String) {
    let contact = try day.make("Contact", ["LastName": "Lovelace", "Department": "1"])
    let account = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(contact: contact, ["Department": "2"])])
    try day.handBack([try day.edited(account: account, ["Phone": "2"])], user: day.ben)
    return (contact, account)
  }

  @Test(arguments: [retrieve, describe])
  func `no other user's edits wait for it`(_ match: FaultMatch) async throws {
    let (contact, account) = try handBack()
    fail(match)
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "not attempted 1, updated 1")
    #expect(summary.interruption == nil)
    #expect(try day.record("Account", account)["Phone"] == "2")
    let words = try #require(try day.details().compactMap(\.message).first)
    #expect(words.contains("requesting Contact: gack") && words.contains("500"), "\(words)")
    // It stays open, and is sent when the org works again.
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Contact", contact)["Department"] == "2")
  }

  @Test func `writes stand if only reading them back fails`() async throws {
    day.rules = [
      FieldDay.rule("accounts", ["Name", "Phone"], mode: .overwrite),
      FieldDay.rule("contacts", ["LastName", "Email"], mode: .overwrite),
    ]
    try day.handBack([day.contact("local_1", ["LastName": "Byron"])])
    try day.handBack([day.account("local_1", ["Name": "New"])], user: day.ben)
    fail(FaultMatch(method: "POST", pathPrefix: Self.retrieve.pathPrefix))
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "created 2")
    #expect(summary.interruption == nil)
    #expect(summary.warnings.contains { $0.contains("Contact could not be read back") })
  }

  @Test func `an unreachable org stops all users`() async throws {
    _ = try handBack()
    fail(.init())
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "not attempted 2")
    #expect(summary.interruption != nil)
  }
}
