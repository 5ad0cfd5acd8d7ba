import MobileSync

struct SyncResult: Sendable {
  var report: SyncReport
  var error: SyncError?
  var ghosts: Int?

  static func run(_ sync: Step.Sync, _ manager: SyncManager) async -> SyncResult {
    do throws(SyncError) {
      guard sync != .ghosts else {
        let ghosts = try await manager.cleanResyncGhosts(named: "down")
        return SyncResult(report: SyncReport(), ghosts: ghosts.count)
      }
      let run = try await manager.reSync(named: sync.rawValue)
      let report = await run.report
      do throws(SyncError) {
        try await run.finish()
        return SyncResult(report: report)
      } catch { return SyncResult(report: report, error: error) }
    } catch { return SyncResult(report: SyncReport(), error: error) }
  }
}
