/// The outcome of a sync run, per record where it needs review.
public struct SyncReport: Sendable, Hashable {
  /// The outcome of one locally changed record of a sync up.
  public struct Record: Sendable, Hashable {
    /// The outcome of a change.
    public enum Outcome: Sendable, Hashable {
      /// The org applied the change.
      case sent
      /// The record had been deleted in the org and was recreated.
      case recreated
      /// The element was deleted on both sides, or created and deleted on the device; it is
      /// removed.
      case removed
      /// The change stays local because the org's record is newer or deleted (LEAVE_IF_CHANGED).
      case left(MergeReason)
      /// The org refused the change, with its code and message; the element keeps the change and
      /// the error.
      case failed(code: String, message: String)
      /// The change was sent but no response arrived; attache searches for its result and does not
      /// resend it blindly.
      case unconfirmed(String)
    }

    /// The soup.
    public var soupName: String
    /// The row.
    public var soupEntryID: Int64
    /// The record's ID after the run; nil if it has none.
    public var id: String?
    /// The operation done on the device.
    public var operation: SyncOperation
    /// The outcome of the change.
    public var outcome: Outcome

    /// Creates a record.
    public init(
      soupName: String, soupEntryID: Int64, id: String?, operation: SyncOperation, outcome: Outcome
    ) {
      self.soupName = soupName
      self.soupEntryID = soupEntryID
      self.id = id
      self.operation = operation
      self.outcome = outcome
    }
  }

  /// Why a change was not sent.
  public enum MergeReason: String, Sendable, Hashable, CaseIterable {
    /// The org's record is newer than the one that was changed.
    case changedOnServer
    /// The org's record is deleted.
    case deletedOnServer
    /// The org's record could not be read.
    case serverUnknown
  }

  /// The number of records fetched by a sync down.
  public var fetched = 0
  /// The number of elements written by a sync down.
  public var written = 0
  /// The number of records that were already identical in the store.
  public var unchanged = 0
  /// IDs of locally changed records that a sync down skipped (LEAVE_IF_CHANGED), by soup.
  public var skipped: [String: [String]] = [:]
  /// IDs of locally changed records that a sync down overwrote (OVERWRITE), by soup.
  public var overwritten: [String: [String]] = [:]
  /// IDs of records that the org listed but did not return, by soup.
  public var unreadable: [String: [String]] = [:]
  /// The briefcase rules that failed in the org; their records are missing.
  public var ruleErrors: [String] = []
  /// The outcome of each local change of a sync up, in the order of processing.
  public var records: [Record] = []
  /// Problems to review that did not end the run.
  public var warnings: [String] = []

  /// Creates an empty report.
  public init() {}
}
