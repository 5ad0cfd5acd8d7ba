import SmartStore

/// What a sync manager does beyond what the syncs say.
public struct SyncSettings: Sendable, Hashable {
  /// How far an incremental sync looks back, in seconds.
  ///
  /// A transaction may commit a record with an older date than one that was read already. What was
  /// read before is not written again.
  public var overlapSeconds: Int
  /// The share of a soup, in percent, that may be removed as ghosts at once.
  public var maxDeletesPercent: Int
  /// How many ghosts may always be removed, however small the soup.
  public var minimumDeletes: Int
  /// Whether a record's modification date is fetched after it was sent, so that the next sync up does
  /// not take our own write for somebody else's.
  public var refreshesDates: Bool
  /// How long, in seconds, a new record whose answer was lost is not sent again because it was not
  /// found in the org: the request may still be under way.
  public var quietWindowSeconds: Int
  /// Whether an incremental parent_children sync also asks for changed children of unchanged parents;
  /// the SDK does not see them.
  public var readsChangedChildren: Bool
  /// How long a change of the store waits for another process that has it in use, in seconds.
  public var waitSeconds = StoreQueue.defaultWaitSeconds
  /// Above how many records all that a `soql` sync selects is made by the org in a bulk job, instead of
  /// being read page by page.
  public var bulkAbove = SyncDefaults.bulkAbove
  /// Whether a sync down leaves alone what was changed here and not sent, whatever its merge mode says.
  public var keepsUnsentChanges = false
  /// Whether a record that the overlap brings again is told from one that changed; tests switch it
  /// off to show what for.
  package var deduplicates = true

  /// SOQL literals for `:name` in the queries of syncs that are made; a device knows nothing of them.
  public var variables: [String: String] = [:]

  /// Settings; what is nil is as in a pipeline that does not say it: an overlap of 600 seconds, 10
  /// percent and at least 10 deletions at once, a quiet window of 900 seconds.
  public init(
    overlapSeconds: Int? = nil, maxDeletesPercent: Int? = nil, minimumDeletes: Int? = nil,
    refreshesDates: Bool = true, quietWindowSeconds: Int? = nil, readsChangedChildren: Bool = true
  ) {
    self.overlapSeconds = Self.seconds(overlapSeconds ?? SyncDefaults.overlapSeconds)
    self.maxDeletesPercent = maxDeletesPercent ?? DeletionGuard.standardPercent
    self.minimumDeletes = minimumDeletes ?? DeletionGuard.standardMinimum
    self.refreshesDates = refreshesDates
    self.quietWindowSeconds = Self.seconds(quietWindowSeconds ?? SyncDefaults.quietWindowSeconds)
    self.readsChangedChildren = readsChangedChildren
  }
  /// Seconds of which milliseconds can be made.
  private static func seconds(_ value: Int) -> Int { min(max(0, value), 1 << 40) }
}
