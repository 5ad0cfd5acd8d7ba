import Reports
import Testing

struct MergedParentTests {
  private let day: FieldDay
  private let survivor: String
  private let gone: String
  init() throws {
    day = try FieldDay()
    survivor = try day.make("Account", ["Name": "Survivor"])
    gone = try day.make("Account", ["Name": "Gone"])
  }

  private func words() -> String {
    """
    AccountId refers to \(gone), which was merged into \(survivor); use \
    --set AccountId=\(survivor)
    """
  }

  @Test func `a new record whose parent was merged is refused with the survivor`() async throws {
    try day.org.merge(gone, into: survivor)
    try day.handBack([day.contact("local_1", ["LastName": "Kid", "AccountId": .string(gone)])])
    #expect(day.verdicts(try await day.run()) == "failed 1")
    let detail = try #require(try day.details().first)
    #expect(detail.message == "entity is deleted: " + words())
    #expect(detail.otherID == survivor)
    #expect(detail.code == "ENTITY_IS_DELETED")
    // A device that gets the edit back has the same message.
    let told = CarriedWords(
      mask: ReportMask(), verdict: .failed, detail: detail, element: [:], edited: [])
    #expect(told.sentence(over: nil) == "Not sent: entity is deleted: " + words())
  }

  @Test func `a parent that was only deleted is to be restored, as before`() async throws {
    _ = day.org.delete("Account", id: gone, as: day.admin)
    try day.handBack([day.contact("local_1", ["LastName": "Kid", "AccountId": .string(gone)])])
    #expect(day.verdicts(try await day.run()) == "failed 1")
    let detail = try #require(try day.details().first)
    #expect(detail.message?.contains("restore that record, or enter another one") == true)
    #expect(detail.otherID == nil)
  }
}
