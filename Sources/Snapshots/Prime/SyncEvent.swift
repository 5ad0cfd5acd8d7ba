/// An event during a prime, for a terminal, a log or a counter.
public enum SyncEvent: Sendable, Hashable {
  /// The progress of a soup in a sync.
  public struct Progress: Sendable, Hashable {
    /// The name of the store.
    public var store: String
    /// The name of the sync.
    public var sync: String
    /// The name of the soup.
    public var soup: String
    /// The number of records that have arrived.
    public var records: Int
    /// The expected number of records; nil if unknown.
    public var total: Int?
  }

  /// A sync of a soup started.
  case started(Progress)
  /// A page was written.
  case progressed(Progress)
  /// A sync of a soup finished.
  case finished(Progress)
  /// A warning for the operator; the run continues.
  case warning(String)
}
