import JSON

/// Adapts a custom target to the generic sync down.
struct CustomDown: SyncDownTarget {
  let target: any CustomSyncDownTarget

  func pages(since: Int64?, _ context: SyncContext) async throws(SyncError) -> any SyncDownPages {
    CustomPages(
      target, since: since, org: context.org, destination: destination(context.soupName))
  }

  func destinations(soupName: String) -> [SyncDestination] { [destination(soupName)] }

  private func destination(_ soupName: String) -> SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: target.idFieldName,
      modificationPath: target.modificationDateFieldName)
  }

  func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    let local = try context.ghostCandidates(target.idFieldName)
    let ids = try await SyncError.inTarget {
      try await target.remoteIDs(among: local, org: context.org)
    }
    return [
      RemoteIDs(
        soupName: context.soupName, idPath: target.idFieldName, ids: ids.map { RecordIDSet($0) },
        asked: RecordIDSet(local))
    ]
  }
}

private final class CustomPages: SyncDownPages {
  private let target: any CustomSyncDownTarget
  private let since: Int64?
  private let org: SyncOrg
  private let destination: SyncDestination
  private var place: String?
  private var seen: Set<String> = []
  private var isAtEnd = false
  private(set) var totalSize = 0

  init(
    _ target: any CustomSyncDownTarget, since: Int64?, org: SyncOrg, destination: SyncDestination
  ) {
    self.target = target
    self.since = since
    self.org = org
    self.destination = destination
  }

  var isSorted: Bool { target.isSortedByModification }

  func next() async throws(SyncError) -> SyncPage? {
    guard !isAtEnd else { return nil }
    let page = try await SyncError.inTarget {
      try await target.fetch(since: since, at: place, org: org)
    }
    if place == nil { totalSize = page.totalSize }
    place = page.next
    isAtEnd = page.next == nil
    if let next = page.next, !seen.insert(next).inserted {
      throw SyncError(.badResponse, "the custom target's pages never end")
    }
    let bytes = Array(("[" + page.records.joined(separator: ",") + "]").utf8)
    return SyncPage(parts: [SyncPage.Part(destination, bytes: bytes, container: .array)])
  }
}
