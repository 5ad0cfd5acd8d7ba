import Returns
import SQLite
import Salesforce
import SmartStore
import System
import TestSupport
import Testing

@Suite struct InterruptedReturnTests {
  static let steps: [(Platform, SoupAlteration.Step)] = Platform.allCases.flatMap { platform in
    SoupAlteration.Step.allCases.filter { $0 < .last(on: platform) }.map { (platform, $0) }
  }
  static let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "Amount", type: .floating),
    IndexSpec(path: "__local__", type: .string), IndexSpec(path: "Name", type: .string),
  ]

  let directory = TemporaryDirectory()

  /// Edits an account on the device, and stops the app after a step of its update.
  private func interrupt(_ path: String, after step: SoupAlteration.Step) throws {
    let device = try Store(opening: path)
    let text = """
      {"_soupEntryId":7,"Id":"00100000000000006AA","Name":"from the device","Amount":2.5,\
      "__local__":true,"__locally_updated__":true}
      """
    try device.upsert([text], into: "accounts")
    var alteration = SoupAlteration(
      platform: device.platform, old: try device.soup("accounts"), specs: Self.specs,
      reIndexData: true)
    let row = try device.begin(alteration)
    try device.run(&alteration, row: row, through: step)
    // A killed app closes nothing.
    device.connection.close()
  }

  @Test(arguments: InterruptedReturnTests.steps)
  func `edits in a store that was interrupted in an alteration are read`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    let issued = try Issued(platform)
    try interrupt(issued.storePath, after: step)
    let returned = directory.file("returned.db")
    try Files.copy(issued.storePath, to: returned)
    let before = try Files.read(returned)
    let validated = try Issued.validate(returned, in: directory)
    #expect(try Files.read(returned) == before, "what came in is kept as it was")
    let taken = directory.file("root/processing/\(validated.sha256)/returned.db")
    #expect(try Files.read(taken) == before)
    #expect(
      validated.notes == [
        "returned.db: the device was interrupted while changing the indexes of soup \"accounts\"; "
          + "the change was completed in the copy that is read"
      ])
    #expect(validated.stores[0].reindexedSoups == ["accounts"])
    let store = try Store(untrusted: validated.stores[0].path)
    #expect(try store.indexSpecs(of: "accounts") == Self.specs)
    var dirty: [Int64] = []
    var rows = 0
    try store.forEachStoredRow(in: "accounts") { row in
      rows += 1
      if row.isIndexedDirty { dirty.append(row.soupEntryID) }
    }
    #expect(rows == 20 && dirty == [7])
    #expect(try store.values(of: "Name", in: "accounts", .dirty) == ["from the device"])
    try store.close()
    #expect(try StoreCheck().violations(at: validated.stores[0].path).isEmpty)
  }

  @Test(arguments: InterruptedReturnTests.steps)
  func
    `the edits that an app saved after its alteration was interrupted are read beside the others`(
      _ platform: Platform, _ step: SoupAlteration.Step
    ) throws
  {
    // Between the two steps there is no table for the app to write to.
    if step == .renameOldSoupTable || step == .dropOldIndexes { return }
    let issued = try Issued(platform)
    try interrupt(issued.storePath, after: step)
    // The SDK has logged that it could not resume.
    let device = Store(try Connection(issued.storePath), platform: platform)
    let text = """
      {"Id":"local_1","Name":"made later","__local__":true,"__locally_created__":true}
      """
    try device.upsert([text], into: "accounts")
    device.connection.close()
    let validated = try Issued.validate(issued.storePath, in: directory)
    let store = try Store(untrusted: validated.stores[0].path)
    let rows: [SoupReading] = [SoupReading(soup: "accounts")]
    let reading = try EditReader.read(
      store: store, key: .init(scope: .user, storeName: "default"), soups: rows)
    try store.close()
    // The new table counts its rows from 1 again, so the row replaces a clean one.
    let isCounted = step != .registerSoupUsingTableName
    #expect(
      reading.edits.map { $0.localID ?? $0.serverID ?? "" }.sorted()
        == ["00100000000000006AA".recordID18 ?? "", "local_1"])
    #expect(reading.totals.values.reduce(0, +) == (isCounted ? 21 : 20))
  }

  @Test(arguments: Platform.allCases)
  func `a change that no SDK makes is quarantined with its reason`(_ platform: Platform) throws {
    for change in [
      "UPDATE long_operations_status SET status = 'x'", "DROP TABLE TABLE_1_old",
      "CREATE TRIGGER t AFTER INSERT ON TABLE_1 BEGIN SELECT 1; END",
    ] {
      let issued = try Issued(platform)
      try interrupt(issued.storePath, after: .copyTable)
      let device = try Connection(issued.storePath)
      try device.execute(change)
      device.close()
      let refusal = #expect(throws: Refusal.self) {
        _ = try Issued.validate(issued.storePath, in: directory)
      }
      #expect(refusal?.code == .notAStore, "\(change)")
      // The partial copy is gone with the private directory's other files.
      #expect(refusal?.sentence.contains("is not a SmartStore") == true)
    }
  }
}
