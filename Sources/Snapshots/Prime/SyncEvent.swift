/// What happens while a snapshot is primed, for a terminal, a log or a counter.
public enum SyncEvent: Sendable, Hashable {
  /// How a soup of a sync stands.
  public struct Progress: Sendable, Hashable {
    /// The store's name.
    public var store: String
    /// The sync's name.
    public var sync: String
    /// The soup's name.
    public var soup: String
    /// The records that have arrived.
    public var records: Int
    /// The records expected; nil while unknown.
    public var total: Int?
  }

  /// A sync of a soup began.
  case started(Progress)
  /// A page was written.
  case progressed(Progress)
  /// A sync of a soup ended.
  case finished(Progress)
  /// Something a person should know of; the run goes on.
  case warning(String)
}
