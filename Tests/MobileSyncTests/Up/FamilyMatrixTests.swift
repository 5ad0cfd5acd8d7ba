import JSON
import MobileSync
import SmartStore
import Testing

/// Rows 159–196 of the conformance table (ParentChildrenOtherSyncTest).
@Suite struct FamilyMatrixTests {
  enum Change: Character, Sendable {
    case none = "N"
    case update = "U"
    case delete = "D"
  }

  /// Local and remote change of a parent, then of its first child, if any.
  struct Row {
    let number: Int
    let changes: [Change]
    var localParent: Change { changes[0] }
    var remoteParent: Change { changes[1] }
    var localChild: Change { hasChildren ? changes[2] : .none }
    var remoteChild: Change { hasChildren && remoteParent != .delete ? changes[3] : .none }
    var hasChildren: Bool { changes.count > 2 }

    /// Whether LEAVE_IF_CHANGED sends the tree: the org has changed nothing, or both sides have
    /// deleted it.
    var passes: Bool {
      stride(from: 0, to: changes.count, by: 2).allSatisfy {
        changes[$0 + 1] == .none || (changes[$0], changes[$0 + 1]) == (.delete, .delete)
      }
    }
  }

  static let rows = """
    NNUN NNUU NNUD NNDN NNDU NNDD UNNN UUNN UDNN UNUN UNUU UNUD UUUN UUUU UUUD UDUN UNDN UNDU UNDD UUDN
    UUDU UUDD UDDN DNNN DUNN DDNN DNUN DUUN DDUN DNDN DUDN DDDN UN UU UD DN DU DD
    """.split { $0.isWhitespace }.enumerated().map { index, letters in
      Row(number: 159 + index, changes: letters.compactMap(Change.init(rawValue:)))
    }

  // SDK: ParentChildrenOtherSyncTest.testSyncUpLocallyUpdatedChild (159-196)
  @Test(arguments: Platform.allCases)
  func `a family changed on both sides is skipped, and then sent by OVERWRITE`(
    _ platform: Platform
  ) async throws {
    let matrix = try await FamilyMatrix(platform, Self.rows)
    try await matrix.change()
    let before = try await matrix.snapshot()
    let first = try await matrix.syncUp(.leaveIfChanged)
    #expect(await first.lastState.totalSize == Self.rows.count)
    let after = try await matrix.snapshot()
    let outcomes = await first.report.outcomes
    let elements = try await matrix.elements()
    for (place, row) in Self.rows.enumerated() {
      if row.passes {
        try matrix.checkCompleted(place, elements)
        continue
      }
      #expect(after[place] == before[place], "\(row)")
      let told = matrix.ids(of: place).compactMap { outcomes[$0] }
      #expect(!told.isEmpty, "\(row)")
      for outcome in told {
        guard case .left = outcome else {
          Issue.record("\(row): \(outcome)")
          continue
        }
      }
    }
    let second = try await matrix.syncUp(.overwrite)
    #expect(await second.lastState.totalSize == Self.rows.count { !$0.passes })
    let completed = try await matrix.elements()
    for place in Self.rows.indices { try matrix.checkCompleted(place, completed) }
    // The family that was not changed.
    #expect(try await matrix.snapshot().last == before.last)
    #expect(try await matrix.store.dirty().isEmpty)
    #expect(try await matrix.store.dirty(ManagedStore.contacts).isEmpty)
  }
}

/// A family for each row of the table and one more, in one org and one store.
private struct FamilyMatrix {
  let rows: [FamilyMatrixTests.Row]
  let store: ManagedStore
  let families: [Family]
  init(_ platform: Platform, _ rows: [FamilyMatrixTests.Row]) async throws {
    self.rows = rows
    store = try await ManagedStore(platform)
    let withChildren = rows.prefix { $0.hasChildren }.count
    let parents = try store.org.makeFamilies(withChildren, children: 2)
    families =
      try parents + store.org.makeFamilies(rows.count - withChildren, children: 0)
      + store.org.makeFamilies(1, children: 2)
    try await store.syncFamilies(.accounts(families))
  }

  func ids(of place: Int) -> [String] { [families[place].id] + families[place].children }

  func change() async throws {
    for (row, family) in zip(rows, families) {
      let child = family.children.first
      try await changeLocally(row, row.localParent, family.id, "Name", ManagedStore.accounts)
      try await changeLocally(row, row.localChild, child, "LastName", ManagedStore.contacts)
      try changeRemotely(row.remoteParent, "Account", family.id, "Name")
      try changeRemotely(row.remoteChild, "Contact", child, "LastName")
    }
  }

  private func changeLocally(
    _ row: FamilyMatrixTests.Row, _ change: FamilyMatrixTests.Change, _ id: String?,
    _ field: String, _ soup: String
  ) async throws {
    guard let id else { return }
    switch change {
    case .none: break
    case .update:
      try await store.edit([id], of: soup) { $0[field] = .string("local \(row.number)") }
    case .delete: try await store.delete([id], of: soup)
    }
  }

  private func changeRemotely(
    _ change: FamilyMatrixTests.Change, _ object: String, _ id: String?, _ field: String
  ) throws {
    guard let id else { return }
    switch change {
    case .none: break
    case .update: try store.org.update(object, id, [field: "remote"])
    case .delete: try store.org.delete(id)
    }
  }

  func syncUp(_ mode: MergeMode) async throws -> SyncRun {
    let run = try await store.manager.syncUp(
      target: .syncUp(.accounts()), options: SyncOptions(mergeMode: mode),
      soupName: ManagedStore.accounts
    ).finished()
    return run
  }

  /// The complete state of each family on both sides, which must not change when a tree is skipped.
  func snapshot() async throws -> [[JSONValue]] {
    let elements = try await store.elements() + store.elements(ManagedStore.contacts)
    let byID = Dictionary(grouping: elements) { $0["Id"]?.string ?? "" }
    return try families.map { family in
      var all = ([family.id] + family.children).flatMap { byID[$0] ?? [] }
      all.append(
        .object(try store.org.values("Account", ["Name"], of: family.id) ?? ["gone": true]))
      for id in family.children {
        all.append(.object(try store.org.values("Contact", ["LastName"], of: id) ?? ["gone": true]))
      }
      return all
    }
  }

  // MARK: Expected results

  /// The elements of both soups, by sObject name.
  func elements() async throws -> [String: [JSONValue]] {
    [
      "Account": try await store.elements(),
      "Contact": try await store.elements(ManagedStore.contacts),
    ]
  }

  func checkCompleted(_ place: Int, _ elements: [String: [JSONValue]]) throws {
    let (row, family) = (rows[place], families[place])
    let isParentNew = row.remoteParent == .delete
    let account = try check(
      elements, row, row.localParent, "Account", "Name", old: family.id, "Account \(place)",
      isNew: isParentNew)
    for (index, id) in family.children.enumerated() {
      let local: FamilyMatrixTests.Change =
        row.localParent == .delete ? .delete : index == 0 ? row.localChild : .none
      let contact = try check(
        elements, row, local, "Contact", "LastName", old: id, "Contact \(place).\(index)",
        isNew: isParentNew || index == 0 && row.remoteChild == .delete)
      guard let contact else { continue }
      #expect(contact["AccountId"] == account?["Id"])
      let contactID = try #require(contact["Id"]?.string)
      #expect(try store.server("Contact", "AccountId", of: contactID) == account?["Id"])
    }
  }

  /// Checks that a record deleted on the device is gone on both sides, and that otherwise both
  /// sides and the element are equal.
  private func check(
    _ elements: [String: [JSONValue]], _ row: FamilyMatrixTests.Row,
    _ change: FamilyMatrixTests.Change, _ object: String,
    _ field: String, old: String, _ name: String, isNew: Bool
  ) throws -> JSONValue? {
    let elements = elements[object] ?? []
    if change == .delete || isNew {
      #expect(try store.org.values(object, ["Id"], of: old) == nil)
      #expect(!elements.contains { $0["Id"]?.string == old })
    }
    if change == .delete { return nil }
    let value = change == .update ? "local \(row.number)" : name
    let found = elements.filter { isNew ? $0[field]?.string == value : $0["Id"]?.string == old }
    #expect(found.count == 1, "\(row)")
    let element = try #require(found.first)
    let id = try #require(element["Id"]?.string)
    #expect(element[field]?.string == value)
    for flag in ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"] {
      #expect(element[flag] == false)
    }
    #expect(element["__last_error__"] == nil)
    #expect(try store.server(object, field, of: id)?.string == value)
    #expect(element["LastModifiedDate"] == (try store.server(object, "LastModifiedDate", of: id)))
    return element
  }
}
