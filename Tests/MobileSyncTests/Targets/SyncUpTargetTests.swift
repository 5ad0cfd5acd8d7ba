import JSON
import MobileSync
import Testing

/// Rows 101–116 of the conformance table: how sync ups are created, read and written.
@Suite struct SyncUpTargetTests {
  typealias Kind = SyncUpTarget.Kind
  static let sized: [(Kind, Int)] = [(.batch, 25), (.collection, 200)]

  private func read(_ json: JSONValue) throws -> SyncUpTarget {
    guard let target = try SyncTarget(stored: json, type: .syncUp).of(SyncUpTarget.self) else {
      throw SyncError(.definition, "no sync up")
    }
    return target
  }

  private func classes(_ kind: Kind) -> JSONObject {
    guard kind == .batch else { return [:] }
    return [
      "iOSImpl": "SFBatchSyncUpTarget",
      "androidImpl": "com.salesforce.androidsdk.mobilesync.target.BatchSyncUpTarget",
    ]
  }

  // SDK: BatchSyncUpTargetConstructorTest.testMaxBatchSizeExceedingLimit (101)
  // SDK: BatchSyncUpTargetConstructorTest.testMaxBatchSizeExceedingLimitInJSON (102)
  // SDK: CollectionSyncUpTargetTest.testMaxBatchSizeExceedingLimit (108)
  // SDK: CollectionSyncUpTargetTest.testMaxBatchSizeExceedingLimitInJSON (109)
  @Test(arguments: sized)
  func `no request is larger than the org allows`(_ kind: Kind, _ most: Int) throws {
    #expect(SyncUpTarget(kind: kind, maxBatchSize: most + 1).maxBatchSize == most)
    var json = classes(kind)
    json["maxBatchSize"] = JSONValue(most + 1)
    let target = try read(.object(json))
    #expect(target.kind == kind)
    #expect(target.maxBatchSize == most)
    json["maxBatchSize"] = 12
    #expect(try read(.object(json)).maxBatchSize == 12)
  }

  // SDK: BatchSyncUpTargetConstructorTest.testConstructors (103)
  // SDK: CollectionSyncUpTargetTest.testConstructors (110)
  @Test(arguments: sized)
  func `a coded target has its lists or none, its size or the maximum`(_ kind: Kind, _ most: Int) {
    let plain = SyncUpTarget(kind: kind)
    #expect(plain.createFieldlist == nil && plain.updateFieldlist == nil)
    #expect(plain.maxBatchSize == most)
    #expect(plain.idFieldName == "Id")
    #expect(plain.modificationDateFieldName == "LastModifiedDate")
    let listed = SyncUpTarget(
      kind: kind, createFieldlist: ["Name"], updateFieldlist: ["Name", "Description"],
      maxBatchSize: 12)
    #expect(listed.createFieldlist == ["Name"])
    #expect(listed.updateFieldlist == ["Name", "Description"])
    #expect(listed.maxBatchSize == 12)
  }

  // SDK: BatchSyncUpTargetConstructorTest.testConstructorWithJSON (104)
  // SDK: CollectionSyncUpTargetTest.testConstructorWithJSON (111)
  @Test(arguments: sized)
  func `a stored target keeps all its members`(_ kind: Kind, _ most: Int) throws {
    var json = classes(kind)
    json["createFieldlist"] = ["Name"]
    json["updateFieldlist"] = ["Name", "Description"]
    json["maxBatchSize"] = 12
    json["idFieldName"] = "IdX"
    json["modificationDateFieldName"] = "LastModifiedDateX"
    json["externalIdFieldName"] = "ExternalIdX"
    let target = try read(.object(json))
    #expect(target.createFieldlist == ["Name"])
    #expect(target.updateFieldlist == ["Name", "Description"])
    #expect(target.maxBatchSize == 12)
    #expect(target.idFieldName == "IdX")
    #expect(target.modificationDateFieldName == "LastModifiedDateX")
    #expect(target.externalIdFieldName == "ExternalIdX")
  }

  // SDK: BatchSyncUpTargetConstructorTest.testConstructorWithJSONWithoutOptionalFields (105)
  // SDK: CollectionSyncUpTargetTest.testConstructorWithJSONWithoutOptionalFields (112)
  // SDK: BatchSyncUpTargetConstructorTest.testFromJSON (106)
  // SDK: CollectionSyncUpTargetTest.testFromJSON (113)
  // SDK: CollectionSyncUpTargetTest.testCollectionSyncUpTargetIsDefault (115)
  @Test(arguments: sized)
  func `missing members of a stored target have SDK defaults`(_ kind: Kind, _ most: Int) throws {
    let target = try read(.object(classes(kind)))
    #expect(target.kind == kind)
    #expect(target.maxBatchSize == most)
    #expect(target.createFieldlist == nil && target.updateFieldlist == nil)
    #expect(target.externalIdFieldName == nil)
    #expect(target.idFieldName == "Id")
    #expect(target.modificationDateFieldName == "LastModifiedDate")
  }

  // SDK: BatchSyncUpTargetConstructorTest.testToJSON (107)
  // SDK: CollectionSyncUpTargetTest.testToJSON (114)
  @Test(arguments: sized)
  func `a target is written with exactly these members`(_ kind: Kind, _ most: Int) {
    var expected = classes(kind)
    expected["idFieldName"] = "Id"
    expected["modificationDateFieldName"] = "LastModifiedDate"
    expected["maxBatchSize"] = JSONValue(most)
    #expect(SyncUpTarget(kind: kind).json == .object(expected))
    expected["createFieldlist"] = ["Name"]
    expected["updateFieldlist"] = []
    expected["externalIdFieldName"] = "ExternalIdX"
    expected["maxBatchSize"] = 12
    let listed = SyncUpTarget(
      kind: kind, createFieldlist: ["Name"], updateFieldlist: [],
      externalIdFieldName: "ExternalIdX", maxBatchSize: 12)
    #expect(listed.json == .object(expected))
  }

  // SDK: CollectionSyncUpTargetTests.testSyncUpTargetSerialization (116)
  @Test(arguments: [
    (#"{}"#, true), (#"{"type":"rest"}"#, true),
    (#"{"iOSImpl":"MyTarget","androidImpl":"com.example.MyTarget","anything":[1]}"#, false),
  ])
  func `a target without a class is a collection, an app's own is preserved`(
    _ text: String, _ isCollection: Bool
  ) throws {
    let json = try JSONValue(parsing: Array(text.utf8))
    let target = try SyncTarget(stored: json, type: .syncUp)
    if let up = target.of(SyncUpTarget.self) {
      #expect(isCollection && up.kind == .collection)
    } else {
      #expect(!isCollection)
      #expect(target.json == json)
    }
    #expect(try SyncTarget(stored: target.json, type: .syncUp) == target)
  }

  @Test(arguments: [Kind.batch, .single])
  func `an SDK class may be listed under the type custom`(_ kind: Kind) throws {
    let name = kind == .batch ? "BatchSyncUpTarget" : "SyncUpTarget"
    let target = try read([
      "type": "custom", "iOSImpl": .string("SF" + name),
      "androidImpl": .string("com.salesforce.androidsdk.mobilesync.target." + name),
    ])
    #expect(target.kind == kind)
  }

  @Test(arguments: ["Soql", "Mru"])
  func `so may an SDK class of a sync down, but not an app's own`(_ kind: String) throws {
    func target(_ ios: String) throws -> SyncTarget {
      try SyncTarget(
        stored: [
          "type": "custom", "iOSImpl": .string(ios),
          "androidImpl":
            .string("com.salesforce.androidsdk.mobilesync.target.\(kind)SyncDownTarget"),
          (kind == "Soql" ? "query" : "sobjectType"):
            .string(kind == "Soql" ? "SELECT Id FROM Account" : "Account"),
          (kind == "Soql" ? "maxBatchSize" : "fieldlist"): kind == "Soql" ? 2000 : ["Name"],
        ], type: .syncDown)
    }
    let stock = try target("SF\(kind)SyncDownTarget")
    #expect(kind == "Soql" ? stock.of(SoqlTarget.self) != nil : stock.of(MruTarget.self) != nil)
    #expect(try target("MyTarget").of(CustomTarget.self) != nil)
  }
}
