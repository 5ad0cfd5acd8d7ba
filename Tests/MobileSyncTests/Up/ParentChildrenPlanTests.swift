import JSON
import MobileSync
import TestSupport
import Testing

@Suite struct ParentChildrenPlanTests {
  private static let parentID = "001000000000001AAA"

  /// A family on a device, written as its parent and its children: `c`, `u` and `d` are flags, `-`
  /// is a clean record; one with `c` has no ID of the org.
  private func tree(_ parent: String, _ children: [String]) throws -> ParentChildrenTree {
    let directory = TemporaryDirectory("plan")
    let store = try ManagedStore.makeStore(directory.file("store.db"), .ios)
    func put(_ flags: String, _ id: String, _ soup: String, _ more: JSONObject) throws {
      var element: JSONObject = [
        "Id": .string(id), "__local__": .bool(flags != "-"),
        "__locally_created__": .bool(flags.contains("c")),
        "__locally_updated__": .bool(flags.contains("u")),
        "__locally_deleted__": .bool(flags.contains("d")),
        "LastModifiedDate": "2024-01-31T12:34:56.000+0000",
      ]
      for (name, value) in more { element[name] = value }
      try store.upsert([.object(element)], into: soup)
    }
    let parentID = parent.contains("c") ? "local_1" : Self.parentID
    try put(
      parent, parentID, ManagedStore.accounts, ["Name": "n", "attributes": ["type": "Account"]])
    for (place, flags) in children.enumerated() {
      try put(
        flags, flags.contains("c") ? "local_c\(place)" : "00300000000000\(place)AAA",
        ManagedStore.contacts,
        ["LastName": "n", "AccountId": .string(parentID), "attributes": ["type": "Contact"]])
    }
    return try #require(try ParentChildrenElements(try targets(.lookup), store).tree(1))
  }

  private func targets(
    _ type: RelationshipType, listsKey: Bool = true
  ) throws -> ParentChildrenUpTargets {
    var target = SyncUpTarget.accounts(type)
    if !listsKey { target.childrenUpdateFieldlist = ["LastName"] }
    return try ParentChildrenUpTargets(target)
  }

  /// Each item as `p` or the child's row with its operation, and `+` if it names its parent.
  private func words(_ plan: ParentChildrenPlan) -> String {
    plan.items.map { item in
      let name =
        switch item.place {
        case .parent: "p"
        case .child(let row): "\(row)"
        }
      let operation = item.isRecreated ? "again" : "\(item.operation)"
      return "\(name) \(operation)\(item.namesParent ? "+" : "")"
    }.joined(separator: ", ")
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var type: RelationshipType
    var parent: String
    var children: [String]
    var items: String
    var settled = 0
    var testDescription: String { "\(type) \(parent) \(children)" }

    static let all = [
      // The parent is sent first, and children name it.
      Row(
        type: .masterDetail, parent: "c", children: ["c", "u", "-"],
        items: "p create, 1 create+, 2 update+, 3 update+"),
      Row(
        type: .lookup, parent: "u", children: ["c", "u", "d", "-"],
        items: "p update, 1 create+, 2 update+, 3 delete"),
      Row(type: .lookup, parent: "-", children: ["u", "-"], items: "1 update+"),
      Row(type: .lookup, parent: "c", children: ["d"], items: "p create, 1 delete"),
      // A deleted parent is sent last, and its details go with it.
      Row(
        type: .lookup, parent: "d", children: ["c", "u", "d"],
        items: "1 create, 2 update, 3 delete, p delete"),
      Row(type: .masterDetail, parent: "d", children: ["c", "u", "d"], items: "p delete"),
      // A parent that the org does not know is removed locally, with its new details.
      Row(type: .masterDetail, parent: "cd", children: ["c"], items: "", settled: 2),
      Row(type: .lookup, parent: "cd", children: ["c"], items: "1 create", settled: 1),
      Row(type: .lookup, parent: "u", children: ["cd"], items: "p update", settled: 1),
    ]
  }

  @Test(arguments: Row.all) func `a family's first request follows its flags`(_ row: Row) throws {
    let plan = ParentChildrenPlan(
      try tree(row.parent, row.children), try targets(row.type), mode: .overwrite)
    #expect(words(plan) == row.items)
    #expect(plan.settled.count == row.settled)
  }

  @Test func `a detail names an unchanged master only if the list contains the field`() throws {
    let tree = try tree("u", ["u", "c"])
    func items(_ type: RelationshipType, _ listsKey: Bool) throws -> String {
      words(ParentChildrenPlan(tree, try targets(type, listsKey: listsKey), mode: .overwrite))
    }
    #expect(try items(.masterDetail, true) == "p update, 1 update+, 2 create+")
    #expect(try items(.masterDetail, false) == "p update, 1 update, 2 create+")
    #expect(try items(.lookup, false) == "p update, 1 update+, 2 create+")
  }

  @Test(arguments: [
    // The refused records, the deleted ones among them, and the second request.
    (["u", "u", "-", "c"], [Int64(1)], [Int64(1)], false, "1 again+"),
    (["u", "u", "-", "c"], [1], [], false, ""), (["u", "u", "-", "c"], [], [2], false, ""),
    (
      ["u", "u", "-", "c", "d"], [], [2], true, "p again, 1 update+, 2 again+, 3 update+, 4 create+"
    ),
  ])
  func `a second request recreates only deleted records`(
    _ children: [String], _ refused: [Int64], _ deleted: [Int64], _ remakesParent: Bool,
    _ items: String
  ) throws {
    let remade = (remakesParent ? [.parent] : []) + deleted.map(ParentChildrenPlace.child)
    let plan = ParentChildrenPlan(
      try tree("u", children), try targets(.lookup), remade: Set(remade),
      refused: Set(refused.map { .child($0) }))
    #expect(words(plan) == items)
  }

  @Test(arguments: ["d", "cd"])
  func `a parent that the app deletes in the meantime is not recreated`(_ parent: String) throws {
    let plan = ParentChildrenPlan(
      try tree(parent, ["u"]), try targets(.lookup), remade: [.parent], refused: [])
    #expect(plan.items.isEmpty)
  }

  @Test func `only an update under LEAVE_IF_CHANGED has the date that was read`() throws {
    let tree = try tree("u", ["u", "d", "c"])
    let date = try #require(tree.parent.modificationDate)
    var states: [ParentChildrenPlace: ServerState] = [.parent: .alive(date)]
    for row in 1...3 { states[.child(Int64(row))] = .alive(date) }
    func dated(_ mode: MergeMode) throws -> [Bool] {
      ParentChildrenPlan(tree, try targets(.lookup), mode: mode, states: states).items
        .map { $0.unmodifiedSince == date.milliseconds }
    }
    #expect(try dated(.leaveIfChanged) == [true, true, false, false])
    #expect(try dated(.overwrite) == [false, false, false, false])
  }
}
