import MobileSync
import Testing

@Suite struct FieldSelectionTests {
  private func fields(
    _ operation: SyncOperation, create: [String]?, update: [String]?, options: [String]?
  ) throws -> [String] {
    var target = SyncUpTarget()
    target.createFieldlist = create
    target.updateFieldlist = update
    return try FieldSelection.fields(
      for: operation, target: target,
      options: SyncOptions(fieldlist: options, mergeMode: .overwrite))
  }

  // The lists of testSyncUpWithCreateAndUpdateFieldList
  @Test func `each operation uses its own list or the options' list`() throws {
    #expect(try fields(.create, create: ["A"], update: ["B"], options: ["C"]) == ["A"])
    #expect(try fields(.update, create: ["A"], update: ["B"], options: ["C"]) == ["B"])
    #expect(try fields(.create, create: nil, update: ["B"], options: ["C"]) == ["C"])
    #expect(try fields(.update, create: ["A"], update: nil, options: ["C"]) == ["C"])
  }

  @Test func `an empty list is valid`() throws {
    #expect(try fields(.create, create: [], update: nil, options: ["C"]) == [])
  }

  @Test func `a missing list is an error that names the key`() {
    #expect { try fields(.update, create: ["A"], update: nil, options: nil) } throws: {
      "\($0)".contains("updateFieldlist")
    }
  }

  @Test func `the id and the modification date are removed`() throws {
    let list = ["Id", "Name", "LastModifiedDate", "Owner.Name"]
    #expect(try fields(.update, create: nil, update: nil, options: list) == ["Name", "Owner.Name"])
  }

  @Test(arguments: [
    (SyncOperation.create, "X-1" as String?, true), (.create, "local_1", false),
    (.create, nil, false),
    (.create, "", false), (.update, "X-1", false),
  ])
  func `only a created element with a real external id is upserted`(
    _ operation: SyncOperation, _ externalID: String?, _ expected: Bool
  ) { #expect(FieldSelection.upserts(operation, externalID: externalID) == expected) }
}
