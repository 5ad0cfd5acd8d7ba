import JSON
import Salesforce
import SmartStore

extension ParentChildrenTarget: SyncDownTarget {
  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    try await ParentChildrenPages(self, since: since, context.session(), context)
  }

  /// Fetches these parents with all their children, and these children, if the parents match.
  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let most = RequestLimits.idsOfFamily
    let parents = ids[family.parent.soupName] ?? IDList()
    let children = ids[family.children.soupName] ?? IDList()
    guard parents.count <= most, children.count <= most else {
      return try await pages(since: nil, context)
    }
    return try await ParentChildrenPages(
      self, since: nil,
      among: (parents.slice(0, of: most), children.slice(0, of: most)), context.session(), context)
  }

  package func destinations(soupName: String) -> [SyncDestination] {
    [family.destinations.parents, family.destinations.children]
  }

  /// Whole trees: each parent that is dirty or has a dirty child, with all its children.
  package func idsToSkip(_ context: SyncContext) throws(SyncError) -> [String: Set<String>] {
    let ids = try family.idsOfDirtyTrees(in: context.store)
    var skip = [family.parent.soupName: ids.parents]
    skip[family.children.soupName, default: []].formUnion(ids.children)
    return skip
  }

  /// The records that the org still has, plus those that must not be treated as ghosts: dirty
  /// trees, and the children of a parent whose children the org did not return completely.
  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    var listing = try await ParentChildrenListing(self, context)
    try await listing.read()
    let dirty = try family.idsOfDirtyTrees(in: context.store)
    for id in dirty.parents { listing.parents.insert(id) }
    for id in dirty.children { listing.children.insert(id) }
    for parentID in listing.unread {
      for id in try family.children(of: parentID, in: context.store) {
        listing.children.insert(id)
      }
    }
    let places = family.destinations
    return [
      RemoteIDs(
        soupName: places.parents.soupName, idPath: places.parents.idPath, ids: listing.parents,
        dates: (places.parents.modificationPath, listing.dates.parents)),
      RemoteIDs(
        soupName: places.children.soupName, idPath: places.children.idPath,
        ids: listing.children, dates: (places.children.modificationPath, listing.dates.children),
        isCounted: false),
    ]
  }

  /// Returns which of these parents match, and which of these children have a matching parent; all
  /// children of a parent that does not match are removed with it.
  package func remoteIDs(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let query = try ParentChildrenQuery(self, variables: context.variables)
    let places = family.destinations
    var remote: [RemoteIDs] = []
    var children = ids[places.children.soupName]?.set ?? RecordIDSet()
    if let asked = ids[places.parents.soupName] {
      let parents = try await places.parents.remoteIDs(among: asked, context) {
        query.parentIDs(among: $0)
      }
      let gone = asked.set.subtracting(parents.ids ?? RecordIDSet())
      for id in gone.slice(0, of: gone.count) {
        for child in try family.children(of: id, in: context.store) { children.insert(child) }
      }
      remote.append(parents)
    }
    if children.count > 0 {
      let asked = children.subtracting(RecordIDSet())
      remote.append(
        try await places.children.remoteIDs(among: asked, context) {
          query.childrenIDs(among: $0)
        })
    }
    return remote
  }

  package func queriesAhead(
    since: Int64, asksDeletions: Bool, variables: [String: String]
  ) throws(SyncError) -> [AheadQuery] {
    let query = try ParentChildrenQuery(self, variables: variables)
    var queries = [
      AheadQuery(query.records(since: since)), AheadQuery(query.changedChildren(since: since)),
    ]
    guard asksDeletions else { return queries }
    let places = family.destinations
    queries += try places.parents.deletionsAhead(of: family.parent.sobjectType, since: since)
    queries += try places.children.deletionsAhead(of: family.children.sobjectType, since: since)
    return queries
  }

  /// The deleted parents and children; dirty trees stay.
  package func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let places = family.destinations
    var remote = try await places.parents.deletions(
      of: family.parent.sobjectType, since: since, context)
    remote += try await places.children.deletions(
      of: family.children.sobjectType, since: since, context)
    let dirty = try family.idsOfDirtyTrees(in: context.store)
    return remote.map { list in
      var list = list
      let isParent = list.soupName == places.parents.soupName
      list.ids = RecordIDSet(isParent ? dirty.parents : dirty.children)
      return list
    }
  }
}

extension ParentChildrenFamily {
  /// The destinations of parents and of children.
  var destinations: (parents: SyncDestination, children: SyncDestination) {
    func place(_ member: FamilyMember) -> SyncDestination {
      SyncDestination(
        soupName: member.soupName, idPath: member.idFieldName,
        modificationPath: member.modificationDateFieldName)
    }
    return (place(parent), place(children))
  }

  /// The parents that are dirty or have a dirty child, with all their children, and dirty children
  /// whose parent is not in the store.
  package func idsOfDirtyTrees(
    in store: Store
  ) throws(SyncError) -> (parents: Set<String>, children: Set<String>) {
    let sql = try ParentChildrenSQL(self, store)
    let parents = try Self.texts(sql.dirty(parent.idFieldName), in: store)
    var offspring = try SoupReader(store: store, soup: children.soupName)
      .dirtyIDs(idPath: children.idFieldName)
    if !parents.isEmpty {
      offspring.formUnion(try Self.texts(sql.childrenOfDirty(children.idFieldName), in: store))
    }
    return (Set(parents), offspring)
  }

  /// Returns the IDs of a parent's children in the store.
  func children(of parentID: String, in store: Store) throws(SyncError) -> [String] {
    try SyncError.inStore {
      try store.elements(
        in: children.soupName, where: children.parentIdFieldName ?? "", is: parentID)
    }.compactMap { $0[children.idFieldName]?.string }
  }

  package static func texts(_ sql: String, in store: Store) throws(SyncError) -> [String] {
    var texts: [String] = []
    try SyncError.inStore {
      try store.forEachRow(ofSmartSQL: sql) { _, values in
        if let text = values.first?.string { texts.append(text) }
      }
    }
    return texts
  }
}
