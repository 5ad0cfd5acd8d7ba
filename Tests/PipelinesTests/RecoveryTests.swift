import Pipelines
import Rehearsal
import SQLite
import System
import Testing

@Suite struct RecoveryTests {
  let world: World
  init() throws { world = try World() }

  private static let localID = "local_500600700800"

  private func loseMachine() throws { try Files.remove(world.data.path) }

  private func create(_ name: String, on device: Device, local: String = localID) throws {
    _ = try device.create(
      "contacts", type: "Contact", ["LastName": .string(name), "Title": "Found on site"],
      localID: local, now: world.org.now())
  }

  private func contacts(_ name: String) throws -> Int { try contactIDs(name).count }

  private func contactIDs(_ name: String) throws -> [String] {
    try world.column("SELECT Id FROM Contact WHERE LastName = '\(name)'")
  }

  private func tar(_ arguments: String...) throws -> String {
    let done = try ChildProcess.run(
      "/bin/tar", ["--zstd"] + arguments, environment: ["PATH": "/usr/bin:/bin"])
    #expect(done.status == 0)
    return String(decoding: done.output, as: UTF8.self)
  }

  /// A phone of Ada's with a new contact and an edited account that a run has sent.
  private func sent() async throws -> (device: Device, account: String) {
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0153"], now: world.org.now())
    try create("Lindqvist", on: device)
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.updated: 1, .created: 1])
    return (device, account)
  }

  /// A phone of Ada's with a new contact that a run sent before its ledger was lost.
  private func forgottenContact() async throws -> Device {
    let device = try await world.primed("ada")
    try create("Lindqvist", on: device)
    try await world.run(device, as: "ada.sqlite")
    try world.loseLedger()
    return device
  }

  // MARK: lost ledgers

  @Test func `after a lost ledger, nothing that was sent is sent again`() async throws {
    try await world.run()
    let (device, account) = try await sent()
    try world.loseLedger()
    let findings = try world.recover()
    #expect(findings.ledger == .lost)
    #expect(findings.again.count == 1)
    // The device is unaware, and returns again.
    try world.handBack(device, as: "again.sqlite", edited: account, ["Description": "+1 555 0154"])
    let before = world.server.log.writes.count
    let summary = try await world.run()
    #expect(try contacts("Lindqvist") == 1)
    #expect(summary.verdicts[.created] == 1, "\(summary.verdicts)")
    #expect(try world.record("Account", account)["Description"] == "+1 555 0154")
    #expect(world.server.log.writes.count == before + 1)
    #expect(try await world.run().verdicts == [:])
  }

  @Test func `a new record that was never sent is searched for, then sent`() async throws {
    let device = try await world.primed("ada")
    try world.loseLedger()
    try world.recover()
    try create("Lindqvist", on: device)
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.created: 1])
    #expect(try contacts("Lindqvist") == 1)
  }

  @Test func `a record that another user has corrected needs review`() async throws {
    try await world.run()
    let (_, account) = try await sent()
    let contact = try #require(try contactIDs("Lindqvist").first)
    try world.change(contact, ["LastName": "Lindquist", "Title": "Owner"], of: "Contact")
    try world.change(account, ["Phone": "+1 555 0199"])
    try world.loseLedger()
    try world.recover()
    let summary = try await world.run()
    #expect(summary.verdicts == [.conflict: 1, .unconfirmed: 1], "\(summary.verdicts)")
    #expect(try contacts("Lindqvist") + contacts("Lindquist") == 1)
    // The message says that the outcome is unknown, not that an answer was lost.
    let stories = try await [
      world.program(["explain"], ["1"]).output, world.program(["explain"], ["2"]).output,
    ].joined()
    #expect(
      stories.contains(
        "which a run before the recovery may have sent (LastName, Title): unknown whether it was sent"
      ), "\(stories)")
    #expect(!stories.contains("no answer came back"), "\(stories)")
    #expect(try world.record("Account", account)["Phone"] == "+1 555 0199")
    #expect(summary.exitStatus == .needsAttention)
  }

  @Test func `a possibly sent edit overwrites nothing, even under OVERWRITE`() async throws {
    try world.overwriteAccounts()
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    let accounts = try world.ids("accounts", on: device)
    for id in accounts.prefix(2) {
      try device.edit("accounts", id: id, ["Phone": "+1 555 0153"], now: world.org.now())
    }
    try world.handBack(device, as: "ada.sqlite")
    #expect(try await world.runAllAsWritten().verdicts == [.updated: 2])
    try world.change(accounts[0], ["Phone": "+1 555 0199"])
    try world.loseLedger()
    try world.recover()
    #expect(try await world.runAllAsWritten().verdicts == [.conflict: 1, .alreadyInOrg: 1])
    #expect(try world.record("Account", accounts[0])["Phone"] == "+1 555 0199")
    // Edits from later bundles overwrite as before.
    let next = try world.device("ada", as: "next")
    try next.edit("accounts", id: accounts[1], ["Phone": "+1 555 0154"], now: world.org.now())
    try world.change(accounts[1], ["Phone": "+1 555 0198"])
    try world.handBack(next, as: "next.sqlite")
    #expect(try await world.runAllAsWritten().verdicts[.updated] == 1)
    #expect(try world.record("Account", accounts[1])["Phone"] == "+1 555 0154")
  }

  @Test func `the sender's other records do not hold back a new one`() async throws {
    let device = try await world.primed("ada")
    try create("Lindqvist", on: device)
    try world.loseLedger()
    _ = world.org.create("Contact", ["LastName": "Another contact"], as: try world.user("ada"))
    try world.recover()
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.created: 1])
  }

  @Test func `a new record and its children are found and not created twice`() async throws {
    let device = try await world.primed("ada")
    _ = try device.create(
      "accounts", type: "Account", ["Name": "Lindqvist & Co"], localID: "local_1",
      now: world.org.now())
    _ = try device.create(
      "contacts", type: "Contact", ["LastName": "Lindqvist", "AccountId": "local_1"],
      localID: "local_2", now: world.org.now())
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.created: 2])
    try world.loseLedger()
    try world.recover()
    let before = world.server.log.writes.count
    #expect(try await world.run().verdicts == [.created: 2])
    #expect(world.server.log.writes.count == before)
    #expect(try contacts("Lindqvist") == 1)
  }

  @Test func `during the wait for answers after a recovery, a new record is not sent`() async throws
  {
    try world.rewrite(#""unansweredWaitSeconds": 0"#, #""unansweredWaitSeconds": 900"#)
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    try create("Lindqvist", on: device)
    try world.handBack(device, as: "ada.sqlite")
    _ = try await world.runAllAsWritten()
    let next = try world.device("ben")
    try create("Åkesson", on: next)
    try world.loseLedger()
    try world.recover()
    try world.handBack(next, as: "ben.sqlite")
    let first = try await world.runAllAsWritten()
    #expect(first.verdicts == [.unconfirmed: 2], "\(first.verdicts)")
    try world.org.setClock(world.org.now() + 1_000_000)
    let second = try await world.runAllAsWritten()
    #expect(second.verdicts == [.created: 2], "\(second.verdicts)")
    #expect(try contacts("Lindqvist") == 1)
    #expect(try contacts("Åkesson") == 1)
  }

  @Test func `a record whose row changed since it was sent needs review`() async throws {
    let device = try await forgottenContact()
    try Files.remove(world.data.done)
    try device.edit(
      "contacts", id: Self.localID, ["LastName": "Lindquist", "Title": "Owner"],
      now: world.org.now() + 60_000)
    try world.recover()
    #expect(try await world.verdicts(device, as: "again.sqlite") == [.unconfirmed: 1])
    #expect(try contacts("Lindquist") == 0)
  }

  // MARK: backups

  @Test func `after a machine is lost, another one continues from the backup`() async throws {
    let backup = try await world.runAndBackUp()
    let (device, account) = try await sent()
    // A bundle that the backup does not know reaches a phone.
    let late = try world.device("ada", as: "late")
    let other = try #require(try world.ids("accounts", on: late).last)
    try late.edit("accounts", id: other, ["Description": "+1 555 0160"], now: world.org.now())
    try loseMachine()
    let findings = try world.recover { $0.backup = backup }
    #expect(findings.ledger == .backup)
    #expect(findings.epoch > 1000)
    #expect(try await world.run().snapshots.contains { $0.generation == 1001 })
    try world.handBack(device, as: "ada.sqlite")
    let summary = try await world.run(late, as: "late.sqlite")
    #expect(try contacts("Lindqvist") == 1)
    #expect(summary.verdicts[.created] == 1, "\(summary.verdicts)")
    #expect(summary.verdicts[.alreadyInOrg] == 1, "\(summary.verdicts)")
    #expect(try world.record("Account", other)["Description"] == "+1 555 0160")
    #expect(summary.warnings.contains { $0.contains("are unknown to this ledger") })
    #expect(try Quarantine.list(world.data.quarantine).isEmpty)
    // Bundles primed since then are like any others.
    let next = try world.device("ada", as: "next")
    try world.handBack(next, as: "next.sqlite", edited: account, ["Description": "+1 555 0161"])
    #expect(try await world.run().verdicts == [.updated: 1])
  }

  @Test func `open edits in the backup are searched for before they are sent`() async throws {
    let device = try await world.primed("ada")
    try create("Lindqvist", on: device)
    try create("Åkesson", on: device, local: "local_500600700801")
    try await world.run(device, as: "ada.sqlite", .ingest)
    let backup = try world.backUp()
    // The lost machine sent one since the backup, which is unknown now.
    _ = world.org.create(
      "Contact", ["LastName": "Lindqvist", "Title": "Found on site"], as: try world.user("ada"))
    try loseMachine()
    #expect(try world.recover { $0.backup = backup }.waiting == 2)
    #expect(try await world.run().verdicts == [.created: 2])
    #expect(try contacts("Lindqvist") == 1)
    #expect(try contacts("Åkesson") == 1)
  }

  @Test func `waiting returns, and names of every kind, are restored`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "+1 555 0153"], now: world.org.now())
    let names = ["ada.sqlite", "Ada.sqlite", "ådå\\ 1.sqlite"]
    for name in names { try world.handBack(device, as: name) }
    let backup = try world.backUp()
    try loseMachine()
    try world.recover { $0.backup = backup }
    #expect(Set(try Files.list(world.data.inbox("inbox"))) == Set(names))
    let verdicts = try await world.run().verdicts
    #expect(verdicts == [.updated: 1], "\(verdicts)")
  }

  @Test func `a backup contains the state that cannot be rebuilt, and no stores`() async throws {
    let backup = try await world.runAndBackUp()
    #expect(try Files.status(backup).mode & 0o777 == 0o600)
    let listed = try tar("-tf", backup)
    for name in [
      "backup.json", "data/state.sqlite", "data/stamp.key", "configuration/demo.json",
      "configuration/demo/userstore.json", "end.json",
    ] { #expect(listed.contains("\n" + name) || listed.hasPrefix(name), "\(listed)") }
    #expect(listed.contains("/generation.json"))
    #expect(listed.contains("data/issued/"))
    #expect(!listed.contains("bundle."))
    #expect(!listed.contains("/ios/"))
    // No temporary files are left next to the ledger.
    #expect(try Files.list(world.data.path).allSatisfy { !$0.hasPrefix(".tmp-") })
  }

  @Test func `a ledger restored by hand is refused until it is recovered`() async throws {
    let backup = try await world.runAndBackUp()
    try world.loseLedger()
    let out = world.directory.file("out")
    try Files.makeDirectory(out)
    _ = try tar("-C", out, "-xf", backup)
    try Files.copy(out + "/data/state.sqlite", to: world.data.state)
    let error = await #expect(throws: PipelineError.self) { try await world.run() }
    #expect(error?.code == "ledger.backup")
    #expect(try world.recover().ledger == .backup)
    #expect(try await world.run().exitStatus == .done)
  }

  private func withoutOne(_ backup: String) throws -> [UInt8] {
    let names = try tar("-tf", backup).split(separator: "\n").map(String.init)
    let left = names.filter { !$0.hasSuffix("stamp.key") }
    #expect(left.count == names.count - 1)
    let (out, made) = (world.directory.file("less"), world.directory.file("less.tar.zst"))
    try Files.makeDirectory(out)
    _ = try tar("-C", out, "-xf", backup)
    let list = world.directory.file("less.txt")
    try DurableFile.write(Array((left.joined(separator: "\n") + "\n").utf8), to: list)
    _ = try tar("-C", out, "--no-recursion", "-T", list, "-cf", made)
    return try Files.read(made)
  }

  @Test(arguments: ["cut", "less", "other", "text"])
  func `an incomplete backup is refused and leaves nothing`(_ fault: String) async throws {
    let backup = try await world.runAndBackUp()
    try loseMachine()
    var bytes = try Files.read(backup)
    switch fault {
    case "cut": bytes.removeLast(bytes.count / 3)
    case "less": bytes = try withoutOne(backup)
    case "text": bytes = Array("a letter".utf8)
    default: break
    }
    try DurableFile.write(bytes, to: backup)
    var pipeline = world.pipeline
    if fault == "other" { pipeline.name = "another" }
    var request = PipelineRecovery.Request(by: "olga")
    request.backup = backup
    let error = #expect(throws: PipelineError.self) {
      try PipelineRecovery.perform(pipeline, root: world.root, request)
    }
    #expect(
      error?.code == (fault == "other" ? "recover.other-pipeline" : "recover.no-backup"),
      "\(String(describing: error))")
    if fault == "less" { #expect(error?.reason == "it is truncated") }
    #expect(try Files.list(world.root).isEmpty)
  }

  // MARK: options

  @Test func `recovery is refused if nothing indicates a loss`() async throws {
    try await world.run()
    let error = #expect(throws: PipelineError.self) { try world.recover() }
    #expect(error?.code == "recover.no-sign")
    #expect(error?.fix?.contains("--restored") == true)
    #expect(try world.recover { $0.isRestored = true }.epoch > 1000)
    let backup = try world.backUp()
    let occupied = #expect(throws: PipelineError.self) { try world.recover { $0.backup = backup } }
    #expect(occupied?.code == "recover.occupied")
  }

  @Test func `a dry run reports the same and changes nothing`() async throws {
    try await world.run()
    _ = try await sent()
    try world.loseLedger()
    let before = try Tree.entries(world.data.path)
    let foretold = try world.recover { $0.isDryRun = true }
    #expect(try Tree.entries(world.data.path) == before)
    var done = try world.recover()
    done.epoch = foretold.epoch
    #expect(done == foretold)
  }

  @Test func `an unreadable ledger is kept next to the new one`() async throws {
    try await world.run()
    try world.loseLedger()
    try DurableFile.write(Array(repeating: 0x41, count: 8192), to: world.data.state)
    let findings = try world.recover()
    #expect(findings.ledger == .damaged)
    let aside = try #require(findings.aside)
    #expect(try Files.size(of: aside) == 8192)
    #expect(try await world.run().exitStatus == .done)
  }

  @Test func `a store without stamp gets that of its named generation`() async throws {
    let device = try await forgottenContact()
    try world.recover()
    let store = try Connection(device.storePath, mode: .readWrite)
    let table = try #require(
      try store.integer("SELECT id FROM soup_attrs WHERE soupName = 'attache_stamp'"))
    try store.execute("DELETE FROM TABLE_\(table)")
    store.close()
    try Files.remove(world.data.processing)
    let file = world.directory.file("bare.sqlite")
    try Files.copy(device.storePath, to: file)
    let user = try world.user("ada").id
    let summary = try await world.run {
      $0.files = [file]
      $0.asSnapshot = (user, 1)
    }
    #expect(summary.verdicts == [.created: 1], "\(summary.verdicts)")
    #expect(try contacts("Lindqvist") == 1)
  }

  @Test func `returns of a ledger lost long ago can be released then`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "+1 555 0153"], now: world.org.now())
    try world.loseLedger()
    for name in ["users", "global", "issued"] { try Files.remove(world.data.path + "/" + name) }
    try await world.run(device, as: "old.sqlite")
    #expect(try Quarantine.list(world.data.quarantine).count == 1)
    #expect(try world.recover { $0.isRestored = true }.releasable == ["old.sqlite"])
    _ = try PipelineReturns(world.pipeline, root: world.root).release(["old.sqlite"])
    #expect(try await world.run().verdicts == [.updated: 1])
    #expect(try world.record("Account", account)["Phone"] == "+1 555 0153")
  }

  @Test func `an interrupted recovery is repeated`() async throws {
    try await world.run()
    let (device, _) = try await sent()
    let key = try Files.read(world.data.path + "/stamp.key")
    try world.loseLedger()
    try world.recover()
    // The ledger was changed, but not the key.
    try DurableFile.write(key, to: world.data.path + "/stamp.key")
    let error = await #expect(throws: PipelineError.self) { try await world.run() }
    #expect(error?.code == "stamp-key.foreign")
    #expect(error?.fix?.contains("attache recover") == true)
    try world.recover()
    _ = try await world.run(device, as: "again.sqlite")
    #expect(try contacts("Lindqvist") == 1)
    #expect(try Quarantine.list(world.data.quarantine).isEmpty)
  }
}
