import MobileSync
import Testing

@Suite struct IDQueryTests {
  private static func list(_ ids: [String]) -> IDList {
    var list = IDList()
    for var id in ids { id.withUTF8 { list.append(UnsafeRawBufferPointer($0)) } }
    return list
  }

  @Test func `ids are in byte order without duplicates, and are split into slices`() {
    var list = Self.list(["b", "a", "ab", "c", "a", "B"])
    #expect(list.count == 6)
    list.sort()
    #expect(list.count == 5)
    #expect(list.slice(0, of: 2) == ["B", "a"])
    #expect(list.slice(1, of: 2) == ["ab", "b"])
    #expect(list.slice(2, of: 2) == ["c"])
    #expect(list.slice(3, of: 2) == [])
    #expect(list.set.contains("ab"))
    #expect(!list.set.contains("bb"))
  }

  @Test func `an empty list has no slices`() {
    var list = IDList()
    list.sort()
    #expect(list.count == 0)
    #expect(list.slice(0, of: 500) == [])
  }

  @Test func `a query lists its fields and its values as SOQL literals`() {
    let query = IDQuery("Account", idField: "Ext__c")
    #expect(
      query.soql(["Id", "Name"], values: ["1", "O'Neil"])
        == #"select Id, Name from Account where Ext__c IN ('1', 'O\'Neil')"#)
    #expect(
      query.soql(["Id"], values: ["1"], modifiedAfter: 1_700_000_000_123, "LastModifiedDate")
        == "select Id from Account where Ext__c IN ('1') "
        + "AND LastModifiedDate > 2023-11-14T22:13:20.123Z")
  }

  @Test(arguments: [(0, 1), (1, 1), (500, 500), (501, 500), (-4, 1)])
  func `a slice has at least one and at most 500 values`(_ asked: Int, _ given: Int) {
    #expect(IDQuery("Account", idField: "Id", slice: asked).slice == given)
  }

  @Test func `fields that are already listed, in any case, are not added`() {
    #expect(
      IDQuery.fields(["name", "ID"], adding: ["Id", "LastModifiedDate"])
        == ["name", "ID", "LastModifiedDate"])
  }
}
