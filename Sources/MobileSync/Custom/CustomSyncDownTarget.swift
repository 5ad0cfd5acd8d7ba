/// A sync down implemented in the embedding program, for a target of `"type": "custom"`.
///
/// A program registers it with `SyncManager` under the class named in the configuration's
/// `androidImpl` and `iOSImpl` (`CustomTargets`).
public protocol CustomSyncDownTarget: Sendable {
  /// The field that identifies a record; the default is `Id`.
  var idFieldName: String { get }
  /// The field that has a record's modification date; the default is `LastModifiedDate`.
  var modificationDateFieldName: String { get }
  /// Whether records arrive in the order of their modification date, so that a stopped sync resumes
  /// at its last page; the default is false.
  var isSortedByModification: Bool { get }

  /// Fetches one page.
  ///
  /// - Parameters:
  ///   - since: Fetches only what was modified after this time, in milliseconds; nil fetches
  ///     everything.
  ///   - place: The value of `next` in the previous page; nil for the first page.
  ///   - org: The org in the session of the store's user.
  func fetch(since: Int64?, at place: String?, org: SyncOrg) async throws -> CustomPage

  /// Returns which of the soup's records that this sync fetched are still in the org.
  ///
  /// The default returns nil, which means unknown: no record is removed.
  func remoteIDs(among localIDs: [String], org: SyncOrg) async throws -> Set<String>?
}

extension CustomSyncDownTarget {
  /// The standard field, `Id`.
  public var idFieldName: String { TargetFields().idFieldName }
  /// The standard field, `LastModifiedDate`.
  public var modificationDateFieldName: String { TargetFields().modificationDateFieldName }
  /// False: no order is guaranteed.
  public var isSortedByModification: Bool { false }
  /// Returns nil: unknown.
  public func remoteIDs(among localIDs: [String], org: SyncOrg) async throws -> Set<String>? { nil }
}

/// A page of records fetched by a custom sync down.
public struct CustomPage: Sendable, Hashable {
  /// The records, each the JSON text of an object.
  public var records: [String]
  /// The number of records that the whole fetch is expected to return.
  public var totalSize: Int
  /// The position of the next page, in a form that only the target interprets; nil after the last
  /// page.
  public var next: String?

  /// Creates a page.
  public init(records: [String], totalSize: Int, next: String? = nil) {
    self.records = records
    self.totalSize = totalSize
    self.next = next
  }
}
