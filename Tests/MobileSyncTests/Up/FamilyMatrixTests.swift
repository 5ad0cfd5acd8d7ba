import JSON
import LocalOrg
import MobileSync
import SmartStore
import Testing

/// Rows 159–196 of the conformance table (ParentChildrenOtherSyncTest).
@Suite struct FamilyMatrixTests {
  /// What was done to a record on one side.
  enum Change: Character, Sendable {
    case none = "N"
    case update = "U"
    case delete = "D"
  }

  /// A row of the table: local and remote change of the parent, then of a child.
  struct Row: Sendable, CustomTestStringConvertible {
    let number: Int
    let localParent: Change
    let remoteParent: Change
    let localChild: Change
    let remoteChild: Change
    let hasChildren: Bool
    /// Whether LEAVE_IF_CHANGED sends the tree.
    let passes: Bool

    var testDescription: String { String(number) }

    init(_ text: String) {
      let words = text.split(separator: " ").map(String.init)
      let changes = words[1...4].map { Change(rawValue: Character($0)) }
      number = Int(words[0]) ?? 0
      localParent = changes[0] ?? .none
      remoteParent = changes[1] ?? .none
      localChild = changes[2] ?? .none
      remoteChild = changes[3] ?? .none
      hasChildren = changes[2] != nil
      passes = words[5] == "pass"
    }
  }

  static let table = """
    159 N N U N pass
    160 N N U U block
    161 N N U D block
    162 N N D N pass
    163 N N D U block
    164 N N D D pass
    165 U N N N pass
    166 U U N N block
    167 U D N N block
    168 U N U N pass
    169 U N U U block
    170 U N U D block
    171 U U U N block
    172 U U U U block
    173 U U U D block
    174 U D U N block
    175 U N D N pass
    176 U N D U block
    177 U N D D pass
    178 U U D N block
    179 U U D U block
    180 U U D D block
    181 U D D N block
    182 D N N N pass
    183 D U N N block
    184 D D N N pass
    185 D N U N pass
    186 D U U N block
    187 D D U N pass
    188 D N D N pass
    189 D U D N block
    190 D D D N pass
    191 U N - - pass
    192 U U - - block
    193 U D - - block
    194 D N - - pass
    195 D U - - block
    196 D D - - pass
    """.split(separator: "\n").map { Row(String($0)) }

  @Test func `the table says what the rule says`() {
    #expect(Self.table.map(\.number) == Array(159...196))
    for row in Self.table {
      let parent =
        row.remoteParent == .none || (row.remoteParent, row.localParent) == (.delete, .delete)
      let child =
        row.remoteChild == .none || (row.remoteChild, row.localChild) == (.delete, .delete)
      #expect(row.passes == (parent && child), "\(row.number)")
    }
  }

  // SDK: ParentChildrenOtherSyncTest.testSyncUpLocallyUpdatedChild (159-196)
  @Test(arguments: table, Platform.allCases)
  func `a family that changed on both sides is left, and then sent by OVERWRITE`(
    _ row: Row, _ platform: Platform
  ) async throws {
    let case_ = try await FamilyCase(row, platform)
    try await case_.change()
    let before = try await case_.snapshot()

    let first = try await case_.syncUp(.leaveIfChanged)
    #expect(await first.lastState.totalSize == 1)
    if row.passes {
      try await case_.checkCompleted()
      let second = try await case_.syncUp(.overwrite)
      #expect(await second.lastState.totalSize == 0)
    } else {
      #expect(try await case_.snapshot() == before)
      let outcomes = await first.report.records.map(\.outcome)
      #expect(!outcomes.isEmpty)
      for outcome in outcomes {
        guard case .left = outcome else {
          Issue.record("\(outcome)")
          continue
        }
      }
      let second = try await case_.syncUp(.overwrite)
      #expect(await second.lastState.totalSize == 1)
      try await case_.checkCompleted()
    }
    #expect(try await case_.store.dirty().isEmpty)
    #expect(try await case_.store.dirty(ManagedStore.contacts).isEmpty)
  }
}

/// One row of the table on its way: two families, of which the first changes.
private struct FamilyCase {
  let row: FamilyMatrixTests.Row
  let store: ManagedStore
  let family: Family
  let other: Family

  init(_ row: FamilyMatrixTests.Row, _ platform: Platform) async throws {
    self.row = row
    store = try await ManagedStore(platform)
    let families = try store.org.makeFamilies(2, children: row.hasChildren ? 2 : 0)
    (family, other) = (families[0], families[1])
    try await store.syncFamilies(.accounts(families))
  }

  /// The child that changes.
  var child: String? { family.children.first }

  func change() async throws {
    try await changeLocally(row.localParent, family.id, "Name", ManagedStore.accounts)
    if let child {
      try await changeLocally(row.localChild, child, "LastName", ManagedStore.contacts)
    }
    try changeRemotely(row.remoteParent, "Account", family.id, "Name")
    if let child, row.remoteParent != .delete {
      try changeRemotely(row.remoteChild, "Contact", child, "LastName")
    }
  }

  private func changeLocally(
    _ change: FamilyMatrixTests.Change, _ id: String, _ field: String, _ soup: String
  ) async throws {
    switch change {
    case .none: break
    case .update: try await store.edit([id], of: soup) { $0[field] = "local" }
    case .delete: try await store.delete([id], of: soup)
    }
  }

  private func changeRemotely(
    _ change: FamilyMatrixTests.Change, _ object: String, _ id: String, _ field: String
  ) throws {
    switch change {
    case .none: break
    case .update: try store.org.update(object, id, [field: "remote"])
    case .delete: try store.org.delete(id)
    }
  }

  func syncUp(_ mode: MergeMode) async throws -> SyncRun {
    let run = try await store.manager.syncUp(
      target: .syncUp(.accounts()), options: SyncOptions(mergeMode: mode),
      soupName: ManagedStore.accounts)
    try await run.finish()
    return run
  }

  /// Everything on both sides: nothing of it may change when a tree is left.
  func snapshot() async throws -> [JSONValue] {
    var all = try await store.elements() + store.elements(ManagedStore.contacts)
    for id in [family.id, other.id] {
      all.append(.object(try store.org.values("Account", ["Name"], of: id) ?? ["gone": true]))
    }
    for id in family.children + other.children {
      all.append(.object(try store.org.values("Contact", ["LastName"], of: id) ?? ["gone": true]))
    }
    return all
  }

  // MARK: what has to be when it was sent

  func checkCompleted() async throws {
    try await checkOther()
    let accounts = try await store.elements().filter { $0["Id"]?.string != other.id }
    let contacts = try await store.elements(ManagedStore.contacts)
      .filter { !other.children.contains($0["Id"]?.string ?? "") }
    if row.localParent == .delete {
      #expect(accounts.isEmpty)
      #expect(contacts.isEmpty)
      #expect(try store.org.values("Account", ["Id"], of: family.id) == nil)
      for id in family.children { #expect(try store.org.values("Contact", ["Id"], of: id) == nil) }
      return
    }
    let account = try #require(accounts.first)
    #expect(accounts.count == 1)
    let isNew = row.remoteParent == .delete
    try checkRecord(
      account, "Account", "Name", old: family.id, isNew: isNew,
      row.localParent == .update ? "local" : "Account 0")
    let gone = row.localChild == .delete ? 1 : 0
    #expect(contacts.count == family.children.count - gone)
    for (place, id) in family.children.enumerated() {
      let isFirst = place == 0
      let value = isFirst && row.localChild == .update ? "local" : "Contact 0.\(place)"
      if isFirst, row.localChild == .delete {
        #expect(try store.org.values("Contact", ["Id"], of: id) == nil)
        continue
      }
      let contact = try #require(contacts.first { $0["LastName"]?.string == value })
      try checkRecord(
        contact, "Contact", "LastName", old: id,
        isNew: isNew || isFirst && row.remoteChild == .delete, value)
      #expect(contact["AccountId"] == account["Id"])
      let contactID = try #require(contact["Id"]?.string)
      #expect(try store.server("Contact", "AccountId", of: contactID) == account["Id"])
    }
  }

  private func checkRecord(
    _ element: JSONValue, _ object: String, _ field: String, old: String, isNew: Bool,
    _ value: String
  ) throws {
    let id = try #require(element["Id"]?.string)
    #expect((id != old) == isNew)
    #expect(element[field]?.string == value)
    for flag in ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"] {
      #expect(element[flag] == false)
    }
    #expect(element["__last_error__"] == nil)
    #expect(try store.server(object, field, of: id)?.string == value)
    if isNew { #expect(try store.org.values(object, ["Id"], of: old) == nil) }
    #expect(
      element["LastModifiedDate"] == (try store.server(object, "LastModifiedDate", of: id)))
  }

  private func checkOther() async throws {
    #expect(try store.server("Account", "Name", of: other.id) == "Account 1")
    #expect(try await store.element(other.id)?["Name"] == "Account 1")
  }
}
