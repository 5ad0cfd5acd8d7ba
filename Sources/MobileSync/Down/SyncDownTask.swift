import Salesforce
import SmartStore

/// Runs a sync down: page after page into the soups, the cursor behind them.
package enum SyncDownTask {
  /// Fetches what the target has: everything, or what was modified after the cursor.
  nonisolated(nonsending) package static func run(
    _ target: any SyncDownTarget, _ context: SyncContext
  ) async throws(SyncError) {
    var since = try await cursor(context)
    var pages = try await target.pages(since: since, context)
    var page = try await pages.next()
    // The answer told the org's clock anew: it may have been set back since the one before.
    if since != nil, try await cursor(context) == nil {
      since = nil
      pages = try await target.pages(since: nil, context)
      page = try await pages.next()
    }
    let load = SyncDownLoad(context, isFull: since == nil)
    var arrived = 0
    try context.update { $0.totalSize = max(0, pages.totalSize) }
    while let current = page {
      try context.checkStop()
      let records = try load.store(current, from: target)
      arrived += current.records ?? records
      pages.recycle(current, records: records)
      let total = max(0, pages.totalSize)
      if pages.isSorted { context.set { $0.maxTimeStamp = load.cursor(after: $0.maxTimeStamp) } }
      if arrived < total {
        try context.update { state in
          state.progress = 100 * arrived / total
          state.totalSize = total
        }
      }
      try context.checkStop()
      page = try await pages.next()
    }
    context.set { state in
      let cursor = load.cursor(after: state.maxTimeStamp)
      state.maxTimeStamp = max(state.maxTimeStamp, min(cursor, pages.cursorLimit ?? cursor))
    }
  }

  /// What an incremental run asks for; nil for everything.
  nonisolated(nonsending) private static func cursor(
    _ context: SyncContext
  ) async throws(SyncError) -> Int64? {
    let cursor = context.state.maxTimeStamp
    guard cursor > 0 else { return nil }
    // An org's clock is told in whole seconds.
    if let now = try await context.serverDate(), cursor > now + 999 {
      context.warn("the org's clock stands before the last record that was read; all is read again")
      context.set { $0.maxTimeStamp = -1 }
      return nil
    }
    return cursor
  }
}
