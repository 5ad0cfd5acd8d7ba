import JSON
import Testing

@Suite struct ExplainCommandTests {
  let world: World
  init() throws { world = try World() }

  private func explain(_ name: String, _ more: String...) async throws -> ProgramRun {
    try await world.program(["explain"], [name] + more)
  }

  private func expect(_ parts: [String], inOrderIn text: String) {
    var rest = text[...]
    for part in parts {
      guard let found = rest.range(of: part) else {
        Issue.record("not in this order: \(part)\n\(text)")
        return
      }
      rest = rest[found.upperBound...]
    }
  }

  @Test func `a conflict and the return that fixes it are listed in order`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    let before = try #require(try world.record("Account", account)["Phone"]?.string)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0151"], now: world.org.now() + 1)
    try world.change(account, ["Phone": "+1 555 0152"])
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.conflict: 1])

    let story = try await explain(account)
    #expect(story.status == 0)
    let told = [
      "Account \(account) “", "issued to ada@example.com in generation 1: soup ",
      "filled by syncDown", "changed on a device of ada@example.com", "edit 1",
      "Phone: \(before) → +1 555 0151", "edit 1 came back in ada.sqlite: device 1, ios",
      "return 1", "edit 1 has the verdict conflict in run ",
      "Phone: \(before) → +1 555 0151; the org has +1 555 0152",
    ]
    expect(told, inOrderIn: story.output)
    // The edit's number and the short form of the ID give the same.
    #expect(try await explain("1").output == story.output)
    #expect(try await explain(String(account.prefix(15))).output == story.output)
    #expect(!story.output.contains("\u{1B}"))

    let document = try JSONValue(parsing: try await explain(account, "--json").output)
    #expect(document["recordId"]?.string == account)
    let kinds = (document["events"]?.array ?? []).compactMap { $0["kind"]?.string }
    #expect(Set(kinds) == ["issued", "edited", "returned", "settled", "carried"])
  }

  @Test func `a record created on a device is found by local id, with its request`() async throws {
    let device = try await world.primed("ada")
    try device.create(
      "accounts", type: "Account", ["Name": "New Mill", "Phone": "1"], localID: "local_77",
      now: world.org.now())
    try world.handBack(device, as: "ada.sqlite")
    world.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: true))
    #expect(try await world.run().verdicts == [.created: 1])
    let story = try await explain("local_77")
    let told = [
      "“New Mill” (local_77 on the device)", "made on a device", "Phone: 1",
      "create for edit 1 as ada@example.com (Name, Phone)", "done",
      "its answer was lost at first", "edit 1 has the verdict created",
    ]
    expect(told, inOrderIn: story.output)
    #expect(try await explain("1").output == story.output)
  }

  @Test func `a redelivered edit is listed with its row and generations`() async throws {
    let carried = try CarriedScene()
    let (_, account) = try await carried.carriedConflict()
    let story = try await carried.world.program(["explain"], [account])
    #expect(story.status == 0)
    let told = [
      "edit 1 has the verdict conflict in run ",
      "edit 1 was redelivered to ada@example.com in generation 2, ios: soup ",
      "accounts; message in its row: Not sent: the record changed in the org after this device read it.",
    ]
    expect(told, inOrderIn: story.output)
    let document = try await carried.world.program(["explain"], ["1", "--json"])
    let kinds = (try JSONValue(parsing: document.output)["events"]?.array ?? []).compactMap {
      $0["kind"]?.string
    }
    #expect(Set(kinds) == ["issued", "edited", "returned", "settled", "carried"])
  }

  @Test func `masked values stay masked, and an unknown name gets one sentence`() async throws {
    let (device, contact) = try await world.primed("ada", first: "contacts")
    try device.edit("contacts", id: contact, ["Email": "secret@x.example"], now: world.org.now())
    try await world.run(device, as: "ada.sqlite")
    let story = try await explain(contact)
    #expect(story.output.contains("Email: ••• → •••"))
    #expect(!story.everything.contains("secret@x.example"))

    for name in ["001000000000000AAA", "4711", "no such thing"] {
      let unknown = try await explain(name)
      #expect(unknown.status == 4)
      #expect(unknown.output == "")
      #expect(unknown.messages.contains("nothing is known about \"\(name)\""))
    }
  }
}
