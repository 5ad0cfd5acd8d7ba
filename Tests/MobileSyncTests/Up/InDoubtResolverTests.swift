import JSON
import LocalOrg
import MobileSync
import System
import Testing

struct InDoubtResolverTests {
  private let org: SyncedOrg
  private let office: OrgUser
  init() throws {
    org = try SyncedOrg()
    office = try org.org.addUser(
      "office@example.com", lastName: "Office", profile: "System Administrator")
  }

  private func reader(_ username: String = "admin@example.com") async throws -> RecordReader {
    let reader = RecordReader(try await org.session(username))
    _ = try await reader.describe("Account")
    return reader
  }

  private func resolver(_ reader: RecordReader, taken: Set<String> = []) -> InDoubtResolver {
    InDoubtResolver(reader: reader, unansweredWaitSeconds: 0) { taken.contains($0) }
  }

  private func write(
    _ action: SyncUpAction, _ fields: JSONObject = [:], id: String? = nil, key: String? = nil,
    seen: JSONValue? = nil, type: String = "Account", by user: OrgUser? = nil
  ) -> PendingWrite {
    let now = org.org.now()
    return PendingWrite(
      action, type, userID: (user ?? org.admin).id, recordID: id,
      externalField: key == nil ? nil : "External_Id__c", externalValue: key, fields: fields,
      seen: seen, since: now, sent: now)
  }

  /// A resolution as text: `done`, `created` or `updated`, the ID, and whether another user wrote
  /// last.
  private func words(_ finding: InDoubtResolver.Resolution) -> String {
    switch finding {
    case .done(let done):
      let what = done.isCreated.map { $0 ? "created" : "updated" } ?? "done"
      return "\(what) \(done.id ?? "")\(done.isSomebodyElses ? " by another" : "")"
    case .notDone(let standing):
      return standing.map { "not done, there is \($0["Id"]?.string ?? "")" } ?? "not done"
    case .unclear(_, let ids): return "unclear \(ids.count)"
    case .atWork: return "running"
    }
  }

  private func found(
    _ write: PendingWrite, taken: Set<String> = [],
    _ adjust: (inout InDoubtResolver) -> Void = { _ in }
  ) async throws -> String {
    var resolver = resolver(try await reader(), taken: taken)
    adjust(&resolver)
    let findings = try await resolver.resolve([write], of: write.objectType)
    return words(try #require(findings.first))
  }

  // MARK: Updates and deletes

  @Test func `an update is done if the record has everything that was sent`() async throws {
    let id = try org.make("Account", ["Name": "A", "Phone": "1"])
    #expect(try await found(write(.update, ["Name": "A", "Phone": "1"], id: id)) == "done \(id)")
    #expect(try await found(write(.update, ["Name": "A", "Phone": "2"], id: id)) == "not done")
    let theirs = write(.update, ["Name": "A"], id: id)
    #expect(org.org.update("Account", id: id, ["Phone": "3"], as: office).errors.isEmpty)
    #expect(try await found(theirs) == "done \(id) by another")
    // In the recycle bin it still has its values.
    try org.delete(id)
    #expect(try await found(write(.update, ["Name": "A", "Phone": "3"], id: id)) == "done \(id)")
    #expect(try await found(write(.update, ["Name": "A", "Phone": "1"], id: id)) == "not done")
  }

  @Test func `a delete is done only if the record is verified as deleted`() async throws {
    let ids = try (0..<3).map { try org.make("Contact", ["LastName": .string("\($0)")]) }
    try org.delete(ids[0])
    func found(_ id: String, _ reader: RecordReader) async throws -> String {
      let delete = write(.delete, id: id, type: "Contact")
      return words(try await resolver(reader).resolve([delete], of: "Contact")[0])
    }
    #expect(try await found(ids[0], reader()) == "done \(ids[0])")
    #expect(try await found(ids[1], reader()) == "not done")
    // A user who does not see the record does not know, and a prover is asked.
    let ada = try await org.session("ada@example.com")
    let prover = try await reader()
    #expect(try await found(ids[2], RecordReader(ada, prover: nil)) == "not done")
    #expect(try await found(ids[2], RecordReader(ada, prover: prover)) == "not done")
    #expect(try await found(ids[0], RecordReader(ada, prover: prover)) == "done \(ids[0])")
  }

  // MARK: Upserts

  @Test
  func `an upsert created the record if its sender has created it with the external ID since`()
    async throws
  {
    let upsert = write(.upsert, ["Name": "device"], key: "E1", seen: .null)
    let id = try org.make("Account", ["Name": "device", "External_Id__c": "E1"])
    #expect(try await found(upsert) == "created \(id)")
    // Whatever another user has made of it.
    #expect(org.org.update("Account", id: id, ["Name": "office"], as: office).errors.isEmpty)
    #expect(try await found(upsert) == "created \(id)")
    try org.delete(id)
    #expect(try await found(upsert) == "created \(id)")
    // Not a record that another write has made and that was undone since.
    #expect(try await found(upsert, taken: [id]) == "not done")
  }

  @Test func `a record that its sender created before exists, and must be compared`() async throws {
    let id = try org.make("Account", ["Name": "old", "External_Id__c": "E1"])
    let seen: JSONValue = ["Id": .string(id), "Name": "old"]
    let known = write(.upsert, ["Name": "device"], key: "E1", seen: seen)
    #expect(try await found(known) == "not done, there is \(id)")
    // The earlier state is unknown. A minute may be the difference between two clocks, but the
    // record has nothing of what was sent.
    try org.org.moveClock(by: 60_000)
    let next = write(.upsert, ["Name": "device"], key: "E1")
    #expect(try await found(next) == "not done, there is \(id)")
    #expect(try await found(write(.upsert, ["Name": "old"], key: "E1")) == "created \(id)")
    // The record was created long before.
    try org.org.moveClock(by: 3_600_000)
    let later = write(.upsert, ["Name": "device"], key: "E1")
    #expect(try await found(later) == "not done, there is \(id)")
  }

  @Test func `a record that another user created with the external id exists`() async throws {
    let upsert = write(.upsert, ["Name": "device"], key: "E1", seen: .null)
    let id = try org.make("Account", ["Name": "office", "External_Id__c": "E1"], as: office)
    #expect(try await found(upsert) == "not done, there is \(id)")
    var unknown = upsert
    unknown.userID = nil
    #expect(try await found(unknown) == "not done, there is \(id)")
  }

  @Test func `an upsert updated the record if it has the sent values`() async throws {
    let id = try org.make("Account", ["Name": "device", "External_Id__c": "E1"], as: office)
    let upsert = write(.upsert, ["Name": "device"], key: "E1")
    #expect(try await found(upsert) == "updated \(id) by another")
    try org.update("Account", id, ["Phone": "1"])
    #expect(try await found(upsert) == "updated \(id)")
  }

  @Test func `a deleted record has no external id`() async throws {
    let gone = try org.make("Account", ["Name": "device", "External_Id__c": "E1"], as: office)
    try org.delete(gone)
    let upsert = write(.upsert, ["Name": "device"], key: "E1")
    #expect(try await found(upsert) == "not done")
    let next = try org.make("Account", ["Name": "office", "External_Id__c": "E1"], as: office)
    #expect(try await found(upsert) == "not done, there is \(next)")
  }

  // MARK: Creates

  @Test func `a create with a correlation field created the record with its value`() async throws {
    let create = write(.create, ["Name": "A"], key: "E1")
    #expect(try await found(create) == "not done")
    let first = try org.make("Account", ["Name": "A", "External_Id__c": "E1"])
    #expect(try await found(create) == "created \(first)")
    try org.delete(first)
    #expect(try await found(create) == "created \(first)")
    // Of a deleted and an existing one, the existing one.
    let second = try org.make("Account", ["Name": "A", "External_Id__c": "E1"])
    #expect(try await found(create) == "created \(second)")
  }

  @Test func `a found record may belong to a create of the same object and sender`() async throws {
    let create = write(.create, ["Name": "A", "Phone": "1"])
    let same = write(.create, ["Name": "B", "Phone": "2"])
    let elses = write(.create, ["Name": "B", "Phone": "2"], by: office)
    let other = write(.create, ["Name": "B", "LastName": "2"], type: "Contact")
    // The org refuses an account without a name.
    let refused = write(.create, ["Phone": "2"])
    let id = try org.make("Account", ["Name": "a.", "Phone": "9"])
    #expect(org.org.update("Account", id: id, ["Fax": "5"], as: office).errors.isEmpty)
    #expect(try await found(create) == "created \(id)")
    #expect(try await found(create) { $0.rivals = [same] } == "unclear 1")
    for rival in [elses, other, refused] {
      #expect(try await found(create) { $0.rivals = [rival] } == "created \(id)")
    }
  }

  @Test func `an older match leaves a create unconfirmed if responses are dated ahead`()
    async throws
  {
    let like = try org.make("Account", ["Name": "A", "Phone": "1"])
    _ = try org.make("Account", ["Name": "A", "Phone": "2"])
    try org.org.moveClock(by: 20 * 60_000)
    let create = write(.create, ["Name": "A", "Phone": "1"])
    #expect(try await found(create) == "not done")
    #expect(try await found(create) { $0.ahead = 10 * 60_000 } == "not done")
    #expect(try await found(create) { $0.ahead = 20 * 60_000 } == "unclear 1")
    // It is never preferred to one with the right date, and it belongs to no other create.
    let made = try org.make("Account", ["Name": "A", "Phone": "1"])
    #expect(try await found(create) { $0.ahead = 20 * 60_000 } == "created \(made)")
    try org.delete(made)
    try org.delete(like)
    #expect(try await found(create) { $0.ahead = 20 * 60_000 } == "created \(made)")
  }

  @Test(arguments: [(-600, 0), (240, 0), (1200, 1200), (26 * 60 * 60, 0)])
  func `responses dated minutes ahead of this machine's clock are not trusted`(
    seconds: Int64, ahead: Int64
  ) async throws {
    try org.org.setClock(Clock.wallMilliseconds() + seconds * 1000)
    let found = resolver(try await reader()).ahead
    // The time of a response has whole seconds, and time passes.
    #expect(ahead == 0 ? found == 0 : abs(found - ahead * 1000) < 60_000)
  }

  @Test func `a record that matches another unconfirmed create belongs to that one`() async throws {
    let create = write(.create, ["Name": "A", "Phone": "1"])
    let rival = write(.create, ["Name": "B", "Phone": "2"])
    _ = try org.make("Account", ["Name": "B", "Phone": "2"])
    #expect(try await found(create) { $0.rivals = [rival] } == "not done")
  }

  @Test func `a late request created a record only if it has all its values and matches no other`()
    async throws
  {
    let create = write(.create, ["Name": "A", "Phone": "1"])
    func arrived(
      _ creates: [PendingWrite], wasTaken: Bool = false,
      _ adjust: (inout InDoubtResolver) -> Void = { _ in }
    ) async throws -> [String?] {
      var resolver = resolver(try await reader())
      adjust(&resolver)
      return try await resolver.arrived(creates, of: "Account") { _ in wasTaken }.map { $0?.id }
    }
    #expect(try await arrived([create]) == [nil])
    let id = try org.make("Account", ["Name": "A", "Phone": "1"])
    #expect(try await arrived([create, create]) == [id, nil])
    #expect(try await arrived([create]) { $0.rivals = [create] } == [nil])
    // The org refuses an account without a name, unless it is known to have accepted it.
    let nameless = write(.create, ["Phone": "1"])
    #expect(try await arrived([nameless]) == [nil])
    #expect(try await arrived([nameless], wasTaken: true) == [id])
    #expect(try await arrived([write(.create, ["Name": "A", "Phone": "2"])]) == [nil])
    try org.delete(id)
    #expect(try await arrived([create]) == [nil])
  }

  @Test func `the wait for an answer ends after its last millisecond`() async throws {
    let reader = try await reader()
    let now = try #require(reader.session.serverDate)
    func isOver(_ after: Int64, window: Int64 = 900) -> Bool {
      let write = PendingWrite(
        .create, "Account", userID: org.admin.id, fields: ["Name": "A"], since: now - after,
        sent: now - after)
      return InDoubtResolver(reader: reader, unansweredWaitSeconds: window) { _ in false }
        .unacknowledged(write).isOver
    }
    #expect(!isOver(899_999))
    #expect(isOver(900_000))
    #expect(isOver(-1, window: 0))
  }

  @Test func `an object is described once per reader`() async throws {
    let reader = try await reader()
    let before = org.requests(.describe)
    #expect(try await reader.describe("Contact").name == "Contact")
    #expect(try await reader.describe("account").name == "Account")
    #expect(try await reader.describe("CONTACT").name == "Contact")
    #expect(org.requests(.describe) == before + 1)
  }
}
