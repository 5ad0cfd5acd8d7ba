/// What a run of a sync did, record by record where it matters to a person.
public struct SyncReport: Sendable, Hashable {
  /// What became of one locally changed record of a sync up.
  public struct Record: Sendable, Hashable {
    /// What became of a change.
    public enum Outcome: Sendable, Hashable {
      /// The org did what was asked.
      case sent
      /// The record had been deleted in the org and was made anew.
      case recreated
      /// It was deleted on both sides, or made and deleted on the device: the element is gone.
      case removed
      /// The change stays, because the org's record is newer or deleted (LEAVE_IF_CHANGED).
      case left(MergeReason)
      /// The org refused the change, in its code and words; the element keeps it and the error.
      case failed(code: String, message: String)
      /// It was sent and no answer came back; it is searched for and not sent blindly again.
      case unconfirmed(String)
    }

    /// The soup.
    public var soupName: String
    /// The row.
    public var soupEntryID: Int64
    /// The record's id after the run; nil where it has none.
    public var id: String?
    /// What the device had done.
    public var operation: SyncOperation
    /// What became of it.
    public var outcome: Outcome

    /// A record.
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

  /// Why a change was left.
  public enum MergeReason: String, Sendable, Hashable, CaseIterable {
    /// The org's record is newer than the one that was changed.
    case changedOnServer
    /// The org's record is deleted.
    case deletedOnServer
    /// The org's record could not be read.
    case serverUnknown
  }

  /// The records that arrived in a sync down.
  public var fetched = 0
  /// The elements that were written in a sync down.
  public var written = 0
  /// Records that the store had already, to the byte.
  public var unchanged = 0
  /// Ids of locally changed records that a sync down left (LEAVE_IF_CHANGED), by soup.
  public var skipped: [String: [String]] = [:]
  /// Ids of locally changed records whose changes a sync down overwrote (OVERWRITE), by soup.
  public var overwritten: [String: [String]] = [:]
  /// Ids that the org listed and would not give, by soup.
  public var unreadable: [String: [String]] = [:]
  /// The briefcase rules that failed in the org: what they would have given is missing.
  public var ruleErrors: [String] = []
  /// What became of each local change in a sync up, in the order in which they were settled.
  public var records: [Record] = []
  /// What a person should know of; the run went on.
  public var warnings: [String] = []

  /// An empty report.
  public init() {}
}
