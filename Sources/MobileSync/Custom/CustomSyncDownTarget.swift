/// A sync down whose code is in the embedding program, for a target of `"type": "custom"`.
///
/// A program names it to `SyncManager` by the class that its configuration has in `androidImpl` and
/// `iOSImpl` (`CustomTargets`).
public protocol CustomSyncDownTarget: Sendable {
  /// The field that identifies a record; `Id` unless said otherwise.
  var idFieldName: String { get }
  /// The field that says when a record was last modified; `LastModifiedDate` unless said otherwise.
  var modificationDateFieldName: String { get }
  /// Whether records come in the order of their modification date, so that a sync that was stopped
  /// goes on from the last page; false unless said otherwise.
  var isSortedByModification: Bool { get }

  /// Fetches one page.
  ///
  /// - Parameters:
  ///   - since: What was modified after this time, in milliseconds, is asked for; nil for everything.
  ///   - place: What the page before named as the next; nil for the first page.
  ///   - org: The org in the session of the store's user.
  func fetch(since: Int64?, at place: String?, org: SyncOrg) async throws -> CustomPage

  /// Says which records the org still has, of those in the soup that this sync brought.
  ///
  /// Nil, the answer unless said otherwise, where it cannot be told: then none is removed.
  func remoteIDs(among localIDs: [String], org: SyncOrg) async throws -> Set<String>?
}

extension CustomSyncDownTarget {
  /// The name that the org's records have.
  public var idFieldName: String { TargetFields().idFieldName }
  /// The name that the org's records have.
  public var modificationDateFieldName: String { TargetFields().modificationDateFieldName }
  /// No order is promised.
  public var isSortedByModification: Bool { false }
  /// Nothing can be told.
  public func remoteIDs(among localIDs: [String], org: SyncOrg) async throws -> Set<String>? { nil }
}

/// A page of records of a custom sync down.
public struct CustomPage: Sendable, Hashable {
  /// The records, each the JSON text of an object.
  public var records: [String]
  /// How many records the whole fetch is expected to bring.
  public var totalSize: Int
  /// Where the next page is, in the target's own words; nil after the last.
  public var next: String?

  /// A page.
  public init(records: [String], totalSize: Int, next: String? = nil) {
    self.records = records
    self.totalSize = totalSize
    self.next = next
  }
}
