import JSON

// Coordination between the syncs of one soup.
extension SyncDownEngine {
  /// Returns the ghosts of the lists that no other sync of the soups selects.
  ///
  /// A record that another sync selects is fetched by that sync and belongs to it from then on,
  /// since a query for changes would not return it.
  func ghosts(of lists: [RemoteIDs]) async throws(SyncError) -> [GhostCleaner.Ghosts] {
    let found = try cleaner.find(lists)
    let soups = Set(found.filter { $0.count > 0 && !$0.list.areDeleted }.map(\.soupName))
    if soups.isEmpty { return found }
    let others = try others(soups)
    if others.isEmpty { return found }
    var lists = lists
    var lost = try cleaner.lost(lists.filter { soups.contains($0.soupName) && !$0.areDeleted })
    for other in others where !lost.isEmpty {
      let held = try await other.hold(lost)
      for (soup, ids) in held {
        lost[soup]?.subtract(ids)
        for index in lists.indices where lists[index].soupName == soup {
          lists[index].ids?.formUnion(ids)
        }
      }
      lost = lost.filter { !$0.value.isEmpty }
    }
    context.store = sink.stores.first ?? context.store
    return try cleaner.find(lists)
  }

  /// Fetches the records that this sync selects and another sync of its soups has lost, and returns
  /// their IDs; records updated by a refresh stay unchanged.
  private func hold(_ lost: [String: LostRecords]) async throws(SyncError) -> [String: RecordIDSet]
  {
    let places = target.destinations(soupName: context.soupName)
    var asked = lost.filter { soup, records in
      places.contains { $0.soupName == soup && $0.idPath == records.idPath }
    }
    if asked.isEmpty { return [:] }
    context.store = sink.stores.first ?? context.store
    var held = try await holdListed(&asked)
    let ids = asked.mapValues(\.all).filter { $0.value.count > 0 }
    if ids.isEmpty { return held }
    let areRecordIDs = asked.values.allSatisfy { $0.idPath == "Id" }
    let pages =
      areRecordIDs
      ? try await target.pages(selectedOf: ids, context)
      : try await target.pages(since: nil, context)
    while let page = try await pages.next() {
      try context.checkStop()
      let picked = try page.picked { soup, id in
        guard asked[soup]?.contains(id) == true else { return false }
        held[soup, default: RecordIDSet()].insert(id)
        return asked[soup]?.own.contains(id) == true
      }
      if !picked.page.parts.isEmpty { _ = try sink.load(picked.page) { pages.expected(in: $0) } }
      pages.recycle(page, records: picked.records)
    }
    try sink.finish()
    context.store = sink.stores.first ?? context.store
    // A cut result does not show which sync fetched a record that it lacks.
    if pages.isCut {
      for (soup, records) in asked { held[soup, default: RecordIDSet()].formUnion(records.renewed) }
    }
    // The records of a failed briefcase rule are unknown, and records that cannot be read are not
    // deleted.
    if !context.report.ruleErrors.isEmpty { return asked.mapValues(\.ids) }
    for (soup, ids) in context.report.unreadable {
      for id in ids { held[soup, default: RecordIDSet()].insert(id) }
    }
    return held
  }

  /// Uses a list of all IDs to find which of a large number of refreshed records the sync selects;
  /// these need no fetch.
  private func holdListed(
    _ asked: inout [String: LostRecords]
  ) async throws(SyncError) -> [String: RecordIDSet] {
    var held: [String: RecordIDSet] = [:]
    guard asked.values.reduce(0, { $0 + $1.renewed.count }) > Self.mostAsked else { return held }
    for list in try await target.remoteIDs(context) where list.asked == nil {
      guard let ids = list.ids, let records = asked[list.soupName], list.idPath == records.idPath
      else { continue }
      held[list.soupName] = records.renewed.intersection(ids)
      asked[list.soupName]?.renewed = RecordIDSet()
    }
    return held
  }
}

/// Records of a soup that a sync no longer selects.
struct LostRecords {
  /// The path of their IDs.
  var idPath: String
  /// The records that the sync fetched.
  var own = RecordIDSet()
  /// The records that a refresh has updated since, fetched by any sync.
  var renewed = RecordIDSet()

  var isEmpty: Bool { own.count + renewed.count == 0 }

  /// The IDs of all of them.
  var ids: RecordIDSet {
    var ids = own
    ids.formUnion(renewed)
    return ids
  }

  /// The IDs of all of them, in order.
  var all: IDList { ids.subtracting(RecordIDSet()) }

  func contains(_ id: PageID) -> Bool { own.contains(id) || renewed.contains(id) }

  mutating func subtract(_ ids: RecordIDSet) {
    own.subtract(ids)
    renewed.subtract(ids)
  }
}

extension SyncPage {
  /// Returns the records of a page to keep, by soup and ID, and the number of records on the page.
  fileprivate func picked(
    _ isKept: (_ soup: String, _ id: PageID) -> Bool
  ) throws(SyncError) -> (page: SyncPage, records: Int) {
    var picked = SyncPage(parts: [])
    var records = 0
    try SyncError.reading("a page of records") {
      for part in parts {
        var bytes = [UInt8(ascii: "[")]
        try part.bytes.withUnsafeBytes { page in
          let scanner = RecordScanner(paths: [part.destination.idPath])
          let found = try scanner.scan(page, in: part.container) { _, range, fields in
            let soup = part.destination.soupName
            guard PageID.reading(fields[0], in: page, { isKept(soup, $0) }) == true else { return }
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: page[range])
          }
          records += found.records
        }
        if bytes.count == 1 { continue }
        bytes.append(UInt8(ascii: "]"))
        picked.parts.append(
          Part(part.destination, bytes: bytes, container: .array, platform: part.platform))
      }
    }
    return (picked, records)
  }
}
