import MobileSync
import Testing

struct Family: Sendable, Hashable {
  var id: String
  var children: [String]
}

extension SyncedOrg {
  /// Creates accounts with contacts: `Account 0` with `Contact 0.0` and so on.
  @discardableResult func makeFamilies(_ count: Int, children: Int) throws -> [Family] {
    try org.transaction {
      try (0..<count).map { place in
        let id = try make(
          "Account", ["Name": .string("Account \(place)"), "Description": "server"])
        let children = try (0..<children).map { child in
          try make(
            "Contact", ["LastName": .string("Contact \(place).\(child)"), "AccountId": .string(id)])
        }
        return Family(id: id, children: children)
      }
    }
  }
}

extension ParentChildrenTarget {
  /// The target for accounts with contacts, all or those of the given families, as in the SDK's
  /// tests.
  static func accounts(
    _ families: [Family]? = nil, _ type: RelationshipType = .masterDetail, filter: String = ""
  ) -> ParentChildrenTarget {
    let ids = families.map { families in
      "Id IN (" + families.map { "'\($0.id)'" }.joined(separator: ", ") + ")"
    }
    return ParentChildrenTarget(
      family: .accounts(type), parentFieldlist: ["Id", "Name", "Description"],
      childrenFieldlist: ["LastName", "AccountId"], parentSoqlFilter: ids ?? filter)
  }
}

extension ManagedStore {
  @discardableResult func syncFamilies(
    _ target: ParentChildrenTarget, _ mode: MergeMode = .overwrite
  ) async throws -> SyncRun {
    let run = try await manager.syncDown(
      target: .parentChildren(target), options: SyncOptions(mergeMode: mode),
      soupName: Self.accounts
    ).finished()
    return run
  }

  /// Runs an existing sync again and waits until it ends.
  @discardableResult func reSync(_ run: SyncRun) async throws -> SyncRun {
    let next = try await manager.reSync(id: run.syncID).finished()
    return next
  }

  /// One member of each element of a soup, by the element's ID.
  func values(_ path: String, of soup: String = accounts) async throws -> [String: String] {
    var values: [String: String] = [:]
    for element in try await elements(soup) {
      if let id = element["Id"]?.string { values[id] = element[path]?.string }
    }
    return values
  }
}

extension SyncUpTarget {
  static func accounts(
    _ type: RelationshipType = .masterDetail, externalIDs: (String?, String?) = (nil, nil)
  ) -> SyncUpTarget {
    var target = SyncUpTarget(
      kind: .parentChildren, createFieldlist: ["Id", "Name", "Description"],
      updateFieldlist: ["Name", "Description"])
    var family = ParentChildrenFamily.accounts(type)
    family.parent.externalIdFieldName = externalIDs.0
    family.children.externalIdFieldName = externalIDs.1
    target.family = family
    target.childrenCreateFieldlist = ["LastName", "AccountId"]
    target.childrenUpdateFieldlist = ["LastName", "AccountId"]
    return target
  }
}
