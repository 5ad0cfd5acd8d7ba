import MobileSync
import SmartStore
import TestSupport
import Testing

/// The families of the SDK's own cases: `Parent` with `Children`, with custom or standard field
/// names.
@Suite struct ParentChildrenQueryTests {
  private func target(
    usual: Bool, filter: String = "School = 'MIT'", foreignKey: String = "parentId"
  ) -> ParentChildrenTarget {
    var parent = FamilyMember(sobjectType: "Parent", soupName: "parentsSoup")
    var children = FamilyMember(sobjectType: "Child", soupName: "childrenSoup")
    children.sobjectTypePlural = "Children"
    children.parentIdFieldName = foreignKey
    if !usual {
      parent.idFieldName = "ParentId"
      parent.modificationDateFieldName = "ParentModifiedDate"
      children.idFieldName = "ChildId"
      children.modificationDateFieldName = "ChildLastModifiedDate"
    }
    return ParentChildrenTarget(
      family: ParentChildrenFamily(parent: parent, children: children, relationshipType: .lookup),
      parentFieldlist: ["ParentName", "Title"], childrenFieldlist: ["ChildName", "School"],
      parentSoqlFilter: filter)
  }

  // SDK: testGetQuery (137)
  @Test func `the query selects parents with their children by the parents' dates`() throws {
    #expect(
      try ParentChildrenQuery(target(usual: false)).records()
        == "select ParentName, Title, ParentId, ParentModifiedDate, "
        + "(select ChildName, School, ChildId, ChildLastModifiedDate from Children) "
        + "from Parent where School = 'MIT' order by ParentModifiedDate")
    #expect(
      try ParentChildrenQuery(target(usual: true)).records()
        == "select ParentName, Title, Id, LastModifiedDate, "
        + "(select ChildName, School, Id, LastModifiedDate from Children) "
        + "from Parent where School = 'MIT' order by LastModifiedDate")
    #expect(
      try ParentChildrenQuery(target(usual: true, filter: " ")).records()
        == "select ParentName, Title, Id, LastModifiedDate, "
        + "(select ChildName, School, Id, LastModifiedDate from Children) "
        + "from Parent order by LastModifiedDate")
  }

  // SDK: testGetQueryWithMaxTimeStamp (138)
  @Test func `an incremental query filters parents and children by their dates`() throws {
    let since: Int64 = 1_706_704_496_123
    let date = "2024-01-31T12:34:56.123Z"
    #expect(
      try ParentChildrenQuery(target(usual: false)).records(since: since)
        == "select ParentName, Title, ParentId, ParentModifiedDate, "
        + "(select ChildName, School, ChildId, ChildLastModifiedDate from Children "
        + "where ChildLastModifiedDate > \(date)) "
        + "from Parent where ParentModifiedDate > \(date) and School = 'MIT' "
        + "order by ParentModifiedDate")
    #expect(
      try ParentChildrenQuery(target(usual: true)).records(since: since)
        == "select ParentName, Title, Id, LastModifiedDate, "
        + "(select ChildName, School, Id, LastModifiedDate from Children "
        + "where LastModifiedDate > \(date)) "
        + "from Parent where LastModifiedDate > \(date) and School = 'MIT' "
        + "order by LastModifiedDate")
  }

  // SDK: testGetSoqlForRemoteIds (139)
  @Test func `remote ids are queried without fields or order`() throws {
    #expect(
      try ParentChildrenQuery(target(usual: false)).parentIDs
        == "select ParentId from Parent where School = 'MIT'")
    #expect(
      try ParentChildrenQuery(target(usual: true)).parentIDs
        == "select Id from Parent where School = 'MIT'")
    #expect(
      try ParentChildrenQuery(target(usual: true)).childrenIDs
        == "select Id, LastModifiedDate, (select Id, LastModifiedDate from Children) from Parent "
        + "where School = 'MIT'")
  }

  @Test func `changed children are queried by their dates and parents' condition`() throws {
    #expect(
      try ParentChildrenQuery(target(usual: false)).changedChildren(since: 1_706_704_496_123)
        == "select ChildName, School, ChildId, ChildLastModifiedDate, parentId from Child where "
        + "ChildLastModifiedDate > 2024-01-31T12:34:56.123Z and parentId in "
        + "(select Id from Parent where School = 'MIT')")
  }

  @Test func `an OR in the parents' condition is parenthesized, variables are filled`() throws {
    let query = try ParentChildrenQuery(
      target(usual: true, filter: "School = :school OR Title = 'Dr'"),
      variables: ["school": "'MIT'"])
    #expect(
      query.records(since: 1000).contains(
        "> 1970-01-01T00:00:01.000Z and (School = 'MIT' OR Title = 'Dr') order by"))
  }

  // SDK: testGetDirtyRecordIdsSql (140)
  @Test(arguments: Platform.allCases)
  func `the dirty trees' Smart SQL is the platform's own`(platform: Platform) {
    let sql = ParentChildrenSQL(
      target(usual: false, foreignKey: "ChildParentId").family, platform: platform)
    let yes = platform == .ios ? "1" : "'true'"
    #expect(
      sql.dirty("IdForQuery")
        == "SELECT DISTINCT {parentsSoup:IdForQuery} FROM {parentsSoup} WHERE "
        + "{parentsSoup:__local__} = \(yes) OR EXISTS (SELECT {childrenSoup:ChildId} "
        + "FROM {childrenSoup} WHERE {childrenSoup:ChildParentId} = {parentsSoup:ParentId} "
        + "AND {childrenSoup:__local__} = \(yes))")
  }

  // SDK: testGetNonDirtyRecordIdsSql (141)
  @Test(arguments: Platform.allCases)
  func `the clean trees' Smart SQL contains the predicate`(platform: Platform) {
    let sql = ParentChildrenSQL(
      target(usual: false, foreignKey: "ChildParentId").family, platform: platform)
    let (yes, no) = platform == .ios ? ("1", "0") : ("'true'", "'false'")
    #expect(
      sql.clean("IdForQuery", "AND {parentsSoup:__sync_id__} = 123")
        == "SELECT DISTINCT {parentsSoup:IdForQuery} FROM {parentsSoup} WHERE "
        + "{parentsSoup:__local__} = \(no) AND {parentsSoup:__sync_id__} = 123 AND NOT EXISTS "
        + "(SELECT {childrenSoup:ChildId} FROM {childrenSoup} WHERE "
        + "{childrenSoup:ChildParentId} = {parentsSoup:ParentId} "
        + "AND {childrenSoup:__local__} = \(yes))")
  }

  // SDK: testGetDirtyAndNonDirtyRecordIds (142)
  @Test(arguments: Platform.allCases, [IndexType.string, .json1])
  func `a tree is clean if all of its members are`(platform: Platform, flags: IndexType) throws {
    let directory = TemporaryDirectory("families")
    let store = try Store(creating: directory.file("store.db"), platform: platform)
    let local = IndexSpec(path: "__local__", type: flags)
    let id = IndexSpec(path: "Id", type: .string)
    try store.registerSoup("accounts", indexSpecs: [id, local])
    try store.registerSoup(
      "contacts", indexSpecs: [id, local, IndexSpec(path: "AccountId", type: .string)])
    // parent, first child, the other children
    let dirty: [(Bool, Bool, Bool)] = [
      (true, true, true), (false, true, true), (true, false, false), (false, false, false),
      (true, false, true), (false, false, true),
    ]
    for (place, tree) in dirty.enumerated() {
      try store.upsert(
        [["Id": .string("a\(place)"), "__local__": .bool(tree.0)]], into: "accounts")
      for (child, flag) in [tree.1, tree.2, tree.2].enumerated() {
        try store.upsert(
          [
            [
              "Id": .string("c\(place)\(child)"), "AccountId": .string("a\(place)"),
              "__local__": .bool(flag),
            ]
          ], into: "contacts")
      }
    }
    let family = ParentChildrenFamily.accounts()
    let sql = try ParentChildrenSQL(family, store)
    #expect(
      try ParentChildrenFamily.texts(sql.dirty("Id"), in: store).sorted()
        == ["a0", "a1", "a2", "a4", "a5"])
    #expect(try ParentChildrenFamily.texts(sql.clean("Id"), in: store) == ["a3"])
    #expect(
      try family.idsOfDirtyTrees(in: store).children.sorted()
        == [0, 1, 2, 4, 5].flatMap { tree in (0..<3).map { "c\(tree)\($0)" } })
  }

  @Test func `a missing index that links families is reported`() throws {
    let directory = TemporaryDirectory("families")
    let store = try Store(creating: directory.file("store.db"), platform: .ios)
    for soup in ["accounts", "contacts"] {
      try store.registerSoup(soup, indexSpecs: [IndexSpec(path: "Id", type: .string)])
    }
    let error = #expect(throws: SyncError.self) {
      try ParentChildrenSQL(ParentChildrenFamily.accounts(), store)
    }
    #expect(error?.description.contains("soup \"contacts\" has no index on \"AccountId\"") == true)
  }
}

extension ParentChildrenFamily {
  static func accounts(
    _ type: RelationshipType = .masterDetail, dates: (String, String)? = nil
  ) -> ParentChildrenFamily {
    var parent = FamilyMember(sobjectType: "Account", soupName: "accounts")
    var children = FamilyMember(sobjectType: "Contact", soupName: "contacts")
    children.sobjectTypePlural = "Contacts"
    children.parentIdFieldName = "AccountId"
    if let dates {
      parent.modificationDateFieldName = dates.0
      children.modificationDateFieldName = dates.1
    }
    return ParentChildrenFamily(parent: parent, children: children, relationshipType: type)
  }
}
