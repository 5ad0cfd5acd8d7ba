import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync

@Suite struct UpRequestTests {
  /// Changes of a soup, one for each pair of a type and flags.
  private func sends(_ records: [(type: String, flags: String)]) throws -> [UpSend] {
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
    let elements = UpElements(store: store, soupName: "soup", target: target)
    var bodies = UpBodies(target, SyncOptions(fieldlist: ["Id", "Name"]))
    var sends: [UpSend] = []
    for id in try elements.dirtyIDs() {
      let record = try #require(try elements.read(id))
      sends.append(try bodies.send(record, record.operation))
    }
    return sends
  }

  @Test func `collections are of one operation each, in the SDK's order`() throws {
    let sends = try sends([("A", "d"), ("A", ""), ("A", "c"), ("A", ""), ("B", "c")])
    let requests = UpRequest.requests(sends, SyncUpTarget(externalIdFieldName: "Id"))
    #expect(requests.map { $0.sends.map(\.record.soupEntryID) } == [[2, 4], [3], [5], [1]])
    #expect(requests.map { $0.sends[0].action } == [.update, .upsert, .upsert, .delete])
  }

  @Test func `records of one type follow each other, and a request has ten types at most`() throws {
    let types = (0..<24).map { "T\($0 % 12)" }
    let requests = UpRequest.requests(
      try sends(types.map { ($0, "") }), SyncUpTarget())
    #expect(requests.map { $0.sends.count } == [20, 4])
    #expect(
      requests[0].sends.map(\.record.objectType)
        == (0..<10).flatMap { ["T\($0)", "T\($0)"] })
  }

  @Test func `a composite carries all operations, a row goes alone`() throws {
    let sends = try sends([("A", "d"), ("A", ""), ("B", "c")])
    #expect(UpRequest.requests(sends, SyncUpTarget(kind: .batch)).map { $0.sends.count } == [3])
    #expect(
      UpRequest.requests(sends, SyncUpTarget(kind: .single)).map { $0.sends.count } == [1, 1, 1])
    #expect(UpRequest.requests([], SyncUpTarget(kind: .batch)).isEmpty)
  }

  @Test func `a collection's record has its type, what names it, and the fields`() throws {
    let sends = try sends([("A", ""), ("A", "c")])
    let texts = sends.map {
      String(decoding: $0.collectionRecord(externalIDField: "Id"), as: UTF8.self)
    }
    #expect(
      texts == [
        #"{"attributes":{"type":"A"},"Id":"id0","Name":"n0"}"#,
        #"{"attributes":{"type":"A"},"Id":"id1","Name":"n1"}"#,
      ])
    #expect(String(decoding: sends[0].body, as: UTF8.self) == #"{"Name":"n0"}"#)
  }
}
