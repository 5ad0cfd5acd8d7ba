import SmartStore

/// The settings of a sync manager.
public struct SyncSettings: Sendable, Hashable {
  /// How far an incremental sync looks back, in seconds.
  ///
  /// A transaction may commit a record with an older date than one that was already read. Records
  /// that were already read are not written again.
  public var overlapSeconds: Int
  /// The share of a soup, in percent, that may be removed as ghosts at once.
  public var maxDeletesPercent: Int
  /// The number of ghosts that may always be removed, however small the soup.
  public var minimumDeletes: Int
  /// Whether a record's modification date is fetched after it was sent, so that the next sync up
  /// does not mistake this client's write for another user's.
  public var refreshesDates: Bool
  /// How long, in seconds, a create without a response is not sent again while the org does not
  /// have its record: the request may still be in transit.
  public var unansweredWaitSeconds: Int
  /// Whether an incremental parent_children sync also fetches changed children of unchanged
  /// parents, which the SDK does not see.
  public var readsChangedChildren: Bool
  /// How long a change of the store waits for another process to release it, in seconds.
  public var waitSeconds = StoreQueue.defaultWaitSeconds
  /// The number of records above which a `soql` sync runs its query as a bulk job instead of
  /// reading page by page.
  public var bulkAbove = SyncDefaults.bulkAbove
  /// Whether a sync down never overwrites unsent local changes, whatever its merge mode.
  public var keepsUnsentChanges = false
  /// Whether records that only the overlap fetched again are recognized as unchanged; tests disable
  /// it to show its effect.
  package var deduplicates = true

  /// SOQL literals for `:name` in the queries of newly created syncs; a device does not know them.
  public var variables: [String: String] = [:]

  /// Creates settings.
  ///
  /// Nil uses the default of a pipeline: an overlap of 600 seconds, 10 percent and at least 10
  /// deletions at once, and a wait of 900 seconds after an unanswered request.
  public init(
    overlapSeconds: Int? = nil, maxDeletesPercent: Int? = nil, minimumDeletes: Int? = nil,
    refreshesDates: Bool = true, unansweredWaitSeconds: Int? = nil,
    readsChangedChildren: Bool = true
  ) {
    self.overlapSeconds = Self.seconds(overlapSeconds ?? SyncDefaults.overlapSeconds)
    self.maxDeletesPercent = maxDeletesPercent ?? DeletionGuard.standardPercent
    self.minimumDeletes = minimumDeletes ?? DeletionGuard.standardMinimum
    self.refreshesDates = refreshesDates
    self.unansweredWaitSeconds = Self.seconds(
      unansweredWaitSeconds ?? SyncDefaults.unansweredWaitSeconds)
    self.readsChangedChildren = readsChangedChildren
  }
  /// Limits a number of seconds to a range that converts to milliseconds.
  private static func seconds(_ value: Int) -> Int { min(max(0, value), 1 << 40) }
}
