import JSON
import Ledger
import LocalOrg
import Testing

/// A new record of a device that a late request has created a second time.
///
/// The second record is in the report of an open edit until an operator decides, whatever the
/// device does next: its app may send the row by itself, so that the org has three records.
struct ThirdRecordTests {
  enum Step: String {
    /// The device returns the new row with another change, or the row as it was issued.
    case edit, revert
    /// Its app creates the record by itself, and the device returns the clean row.
    case send
    /// Its user changes the row after its app created the record.
    case sendAndEdit
    case run
  }

  struct Course: CustomTestStringConvertible {
    var steps: [Step]
    var testDescription: String { steps.map(\.rawValue).joined(separator: ", ") }

    static let all: [Course] = [
      [.send], [.sendAndEdit], [.edit, .send], [.edit, .sendAndEdit], [.edit, .run, .send],
      [.edit, .run, .sendAndEdit], [.sendAndEdit, .send], [.sendAndEdit, .run, .send],
      [.edit, .revert], [.edit, .run, .revert], [.edit, .edit, .revert],
      [.sendAndEdit, .run, .edit, .revert], [.edit, .sendAndEdit, .run, .edit, .revert],
    ].map { Course(steps: $0) }
  }

  private let day: FieldDay
  init() throws {
    day = try FieldDay()
    day.options.unansweredWaitSeconds = 900
    day.options.conditionalUpdates = false
  }

  private func night(_ seconds: Int64 = 600) async throws {
    try day.org.moveClock(by: seconds * 1000)
    _ = try await day.run()
  }

  private func open() throws -> [Int64] {
    try day.state.connection.all(
      "SELECT e.id FROM edit e WHERE \(LedgerDatabase.isUnsettledEdit) ORDER BY e.id"
    ).compactMap { $0[0].integer }
  }

  /// The duplicates that open edits were last reported with.
  private func duplicates() throws -> Set<String> {
    Set(try open().compactMap { try day.state.decidable($0)?.detail.otherID })
  }

  /// A row whose create was sent twice, and the record that its late request created.
  private func begin() async throws -> (row: Edit, late: String) {
    let row = day.contact("local_1", ["LastName": "Lovelace", "Department": "Analysis"])
    try day.handBack([row], handback: 1)
    day.server.faults.add(.kind(.collectionCreate), .deliverLate(seconds: 1_000_000))
    try await night()
    try await night(1_000)
    #expect(try open() == [])
    day.server.deliverHeld()
    try await night()
    return (row, try #require(try day.state.toldTwins(of: 1)).second)
  }

  /// Decides that a record counts, and about the conflicts that follow from it.
  private func acknowledge(_ record: String) async throws {
    for _ in 0..<3 {
      for edit in try open() {
        switch try day.state.decidable(edit)?.subject.verdict {
        case .duplicateCreated: try day.decide(edit, .record(record))
        case .conflict: try day.decide(edit, .server)
        default: break
        }
      }
      try await night()
    }
    #expect(try open() == [], "none is reported again")
  }

  @Test(arguments: Course.all)
  func `a record that a late request created stays in a report`(_ course: Course) async throws {
    var (row, late) = try await begin()
    var own: String?
    for (place, step) in course.steps.enumerated() {
      let handback = Int64(place + 2)
      if own == nil, step == .send || step == .sendAndEdit {
        own = day.org.create("Contact", ["LastName": "Lovelace"], as: day.ada).id
      }
      if let own, step != .run {
        (row.operation, row.serverID, row.localID) = (.update, own, nil)
        row = try row.changed(["Id": .string(own)])
      }
      row = try row.changed(["Department": .string("Department \(place)")])
      switch step {
      case .edit, .sendAndEdit: try day.handBack([row], handback: handback)
      case .revert: try day.handBack([], handback: handback)
      case .send:
        let clean = row.clean(as: try #require(own))
        try day.handBack([], handback: handback, witnesses: [clean])
      case .run: try await night()
      }
    }
    try await night()
    let expected = Set([late, own].compactMap(\.self))
    #expect(try duplicates() == expected)
    try await night()
    #expect(try duplicates() == expected)
    try await acknowledge(try #require(try day.state.toldTwins(of: 1)).first)
  }

  @Test func `the late request of a matched create is reported next to its app's own`()
    async throws
  {
    let row = day.contact("local_1", ["LastName": "Lovelace", "Department": "Analysis"])
    try day.handBack([row], handback: 1)
    day.server.faults.add(.kind(.collectionCreate), .deliverLate(seconds: 1_000_000))
    try await night()
    let named = try #require(day.org.create("Contact", ["LastName": "Byron"], as: day.ada).id)
    try day.decide(1, .record(named))
    try await night()
    #expect(try open() == [])
    let own = try #require(day.org.create("Contact", ["LastName": "Lovelace"], as: day.ada).id)
    try day.handBack([], handback: 2, witnesses: [row.clean(as: own)])
    try await night()
    #expect(try duplicates() == [own])
    day.server.deliverHeld()
    try await night()
    let late = try duplicates().subtracting([own])
    #expect(late.count == 1 && late.first != named)
    try await acknowledge(named)
  }
}
