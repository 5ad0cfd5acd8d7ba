import JSON
import MobileSync
import SmartStore
import TestSupport
import Testing

@Suite struct SyncUpElementsTests {
  private static let id = "001000000000001AAA"
  private let directory = TemporaryDirectory("elements")
  private let store: Store
  private let elements: SyncUpElements
  init() throws {
    store = try Store(creating: directory.file("store.db"), platform: .ios)
    try store.registerSoup(
      "soup",
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "__local__", type: .string),
      ])
    elements = SyncUpElements(store: store, soupName: "soup", target: SyncUpTarget())
  }

  /// Inserts an element into the soup; the flags are `c`, `u` and `d`, none for a clean one.
  @discardableResult private func put(
    _ id: String, _ flags: String, _ more: JSONObject = [:], row: Int64? = nil
  ) throws -> Int64 {
    var element: JSONObject = [
      "Id": .string(id), "Name": "n", "attributes": ["type": "Account"],
      "__local__": .bool(!flags.isEmpty), "__locally_created__": .bool(flags.contains("c")),
      "__locally_updated__": .bool(flags.contains("u")),
      "__locally_deleted__": .bool(flags.contains("d")),
    ]
    for (name, value) in more { element[name] = value }
    if let row { element["_soupEntryId"] = JSONValue(row) }
    let stored = try store.upsert([.object(element)], into: "soup")
    return try #require(stored.first?["_soupEntryId"]?.int)
  }

  private func settled(_ row: Int64, _ end: SyncUpSettled.End) throws -> SyncUpSettled {
    SyncUpSettled(try #require(try elements.read(row)), end)
  }

  /// A row's ID and flags; nil if it no longer exists.
  private func state(_ row: Int64) throws -> String? {
    guard let record = try elements.read(row) else { return nil }
    let state = record.state
    return (record.id ?? "") + " " + (state.isLocal ? "l" : "") + (state.isCreated ? "c" : "")
      + (state.isUpdated ? "u" : "") + (state.isDeleted ? "d" : "")
  }

  @Test func `changed rows are found in numeric order`() throws {
    let rows = try (0..<12).map { try put("local_\($0)", "c") }
    try put(Self.id, "")
    #expect(try elements.dirtyIDs() == rows.sorted())
  }

  @Test func `a sent element is clean, and its old error is removed`() throws {
    let row = try put(Self.id, "u", ["__last_error__": "old"])
    try elements.commit([try settled(row, .sent(id: nil))])
    #expect(try state(row) == Self.id + " ")
    let element = try JSONValue(parsing: try #require(try elements.read(row)).bytes)
    #expect(element["__last_error__"] == nil)
  }

  @Test(arguments: [("cu", "lu"), ("c", "lu"), ("cd", "ld")])
  func `a new record changed in transit is no longer new`(_ now: String, _ after: String) throws {
    let row = try put("local_1", "c")
    let sent = try settled(row, .sent(id: Self.id))
    try put("local_1", now, ["Name": "newer"], row: row)
    try elements.commit([sent])
    #expect(try state(row) == Self.id + " " + after)
  }

  @Test
  func `records that the org deleted are removed from the store, unless the app edited them again`()
    throws
  {
    let row = try put(Self.id, "d")
    let first = try settled(row, .deleted)
    try put(Self.id, "u", ["Name": "again"], row: row)
    try elements.commit([first])
    #expect(try state(row) == Self.id + " lu")
    try put(Self.id, "d", ["Name": "again"], row: row)
    let second = try settled(row, .deleted)
    try put(Self.id, "d", ["Name": "still gone"], row: row)
    try elements.commit([second])
    #expect(try state(row) == nil)
  }

  @Test func `of two elements of one record the clean one is removed`() throws {
    let made = try put("local_1", "c")
    let brought = try put(Self.id, "")
    #expect(try elements.commit([try settled(made, .sent(id: Self.id))]).isEmpty)
    #expect(try state(made) == Self.id + " ")
    #expect(try state(brought) == nil)
  }

  @Test func `of two elements of one record the edited one stays`() throws {
    let made = try put("local_1", "c")
    let edited = try put(Self.id, "u")
    #expect(try elements.commit([try settled(made, .sent(id: Self.id))]).isEmpty)
    #expect(try state(made) == nil)
    #expect(try state(edited) == Self.id + " lu")
  }

  @Test func `of two edited elements of one record the sent one stays, with a report`() throws {
    let made = try put("local_1", "c")
    let edited = try put(Self.id, "u")
    let sent = try settled(made, .sent(id: Self.id))
    try put("local_1", "c", ["Name": "newer"], row: made)
    #expect(try elements.commit([sent]) == [Self.id])
    #expect(try state(made) == Self.id + " lu")
    #expect(try state(edited) == nil)
  }

  @Test func `a date is not written to an element that represents another record by now`() throws {
    let row = try put(Self.id, "")
    try elements.setDates([(row, "001000000000002AAA", "2026-01-01T00:00:00.000+0000")])
    #expect(try elements.read(row)?.modificationDate == nil)
    try elements.setDates([(row, Self.id, "2026-01-01T00:00:00.000+0000")])
    #expect(try elements.read(row)?.modificationDate != nil)
  }
}
