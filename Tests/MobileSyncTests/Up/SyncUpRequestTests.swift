import JSON
import MobileSync
import SmartStore
import TestSupport
import Testing

@Suite struct SyncUpRequestTests {
  private func sends(_ records: [(type: String, flags: String)]) throws -> [SyncUpSend] {
    let directory = TemporaryDirectory("requests")
    let store = try Store(creating: directory.file("store.db"), platform: .ios)
    try store.registerSoup(
      "soup",
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "__local__", type: .string),
      ])
    for (index, record) in records.enumerated() {
      let element: JSONObject = [
        "Id": .string("id\(index)"), "attributes": ["type": .string(record.type)],
        "Name": .string("n\(index)"), "__local__": true,
        "__locally_created__": .bool(record.flags.contains("c")),
        "__locally_deleted__": .bool(record.flags.contains("d")),
      ]
      try store.upsert([.object(element)], into: "soup")
    }
    let target = SyncUpTarget(externalIdFieldName: "Id")
    let elements = SyncUpElements(store: store, soupName: "soup", target: target)
    var bodies = SyncUpBodies(target, SyncOptions(fieldlist: ["Id", "Name"]))
    var sends: [SyncUpSend] = []
    for id in try elements.dirtyIDs() {
      let record = try #require(try elements.read(id))
      sends.append(try bodies.send(record, record.operation))
    }
    return sends
  }

  private func batches(
    _ sends: [SyncUpSend], _ target: SyncUpTarget, reads: Bool = false
  ) -> [[SyncUpSend]] {
    SyncUpRequest.batches(
      sends, kind: target.kind, maxBatchSize: target.maxBatchSize, reads: reads
    ).map(\.changes)
  }

  @Test func `each collection has one operation, in the SDK's order`() throws {
    let sends = try sends([("A", "d"), ("A", ""), ("A", "c"), ("A", ""), ("B", "c")])
    let batches = batches(sends, SyncUpTarget(externalIdFieldName: "Id"))
    #expect(batches.map { $0.map(\.record.soupEntryID) } == [[2, 4], [3], [5], [1]])
    #expect(batches.map { $0[0].action } == [.update, .upsert, .upsert, .delete])
  }

  @Test func `a job has one action and object, and too few changes are sent in requests`() throws {
    let records =
      (0..<4).flatMap { _ in [("A", ""), ("B", ""), ("A", "d")] } + [("C", ""), ("B", "d")]
    let sends = try sends(records)
    let batches = SyncUpRequest.batches(sends, kind: .collection, maxBatchSize: 200, bulkAbove: 3)
    #expect(batches.map(\.form) == [.job, .job, .job, .collection, .collection])
    #expect(
      batches.map { batch in
        Set(batch.changes.map { "\($0.action) \($0.record.objectType)" }).sorted()
      } == [["update A"], ["update B"], ["delete A"], ["update C"], ["delete B"]])
    #expect(batches.reduce(0) { $0 + $1.changes.count } == records.count)
    let atBound = SyncUpRequest.batches(sends, kind: .collection, maxBatchSize: 200, bulkAbove: 4)
    #expect(!atBound.contains { $0.form == .job })
  }

  @Test func `records of one type are consecutive, and a request has ten types at most`() throws {
    let types = (0..<24).map { "T\($0 % 12)" }
    let batches = batches(try sends(types.map { ($0, "") }), SyncUpTarget())
    #expect(batches.map(\.count) == [20, 4])
    #expect(batches[0].map(\.record.objectType) == (0..<10).flatMap { ["T\($0)", "T\($0)"] })
  }

  @Test func `a composite has all operations, a row is sent alone`() throws {
    let sends = try sends([("A", "d"), ("A", ""), ("B", "c")])
    #expect(batches(sends, SyncUpTarget(kind: .batch)).map(\.count) == [3])
    #expect(batches(sends, SyncUpTarget(kind: .batch, maxBatchSize: 2)).map(\.count) == [2, 1])
    #expect(batches(sends, SyncUpTarget(kind: .single)).map(\.count) == [1, 1, 1])
    #expect(batches([], SyncUpTarget(kind: .batch)).isEmpty)
  }

  @Test func `a batch has as many changes as the target allows, in order`() throws {
    let sends = try sends([("A", ""), ("A", "d"), ("A", ""), ("A", "d")])
    let batches = batches(sends, SyncUpTarget(maxBatchSize: 3))
    #expect(batches.map { $0.map(\.record.soupEntryID) } == [[1, 3], [2], [4]])
  }

  @Test func `updates with a condition are sent in composites no larger than a batch`() throws {
    var sends = try sends(Array(repeating: ("A", ""), count: 30))
    for index in sends.indices where index != 4 { sends[index].write.unmodifiedSince = 1 }
    func forms(_ target: SyncUpTarget) -> [String] {
      SyncUpRequest.batches(sends, kind: target.kind, maxBatchSize: target.maxBatchSize)
        .map { "\($0.form) \($0.changes.count)" }
    }
    #expect(forms(SyncUpTarget()) == ["collection 1", "composite 25", "composite 4"])
    #expect(
      forms(SyncUpTarget(maxBatchSize: 20)) == ["collection 1", "composite 19", "composite 10"])
    #expect(forms(SyncUpTarget(kind: .batch)) == ["composite 25", "composite 5"])
  }

  @Test func `a tree has room for its query in its request`() throws {
    let sends = try sends(Array(repeating: ("A", ""), count: 26))
    #expect(batches(sends, SyncUpTarget(kind: .parentChildren)).map(\.count) == [25, 1])
    #expect(
      batches(sends, SyncUpTarget(kind: .parentChildren), reads: true).map(\.count) == [24, 2])
  }

  @Test func `a collection's record has its type, its identifier, and the fields`() throws {
    let sends = try sends([("A", ""), ("A", "c")])
    let texts = sends.map { String(decoding: $0.write.collectionRecord, as: UTF8.self) }
    #expect(
      texts == [
        #"{"attributes":{"type":"A"},"Id":"id0","Name":"n0"}"#,
        #"{"attributes":{"type":"A"},"Id":"id1","Name":"n1"}"#,
      ])
    #expect(String(decoding: sends[0].write.body, as: UTF8.self) == #"{"Name":"n0"}"#)
  }

  @Test func `no batch is larger than the org allows, whatever the target says`() throws {
    let sends = try sends(Array(repeating: ("A", ""), count: 201))
    var target = SyncUpTarget()
    target.maxBatchSize = 500
    #expect(batches(sends, target).map(\.count) == [200, 1])
    target = SyncUpTarget(kind: .batch)
    target.maxBatchSize = 100
    #expect(batches(Array(sends.prefix(30)), target).map(\.count) == [25, 5])
  }

  @Test func `deletes respect the limit of types in a collection, too`() throws {
    let sends = try sends((0..<24).map { ("T\($0 % 12)", "d") })
    #expect(batches(sends, SyncUpTarget()).map(\.count) == [20, 4])
  }
}
