import JSON

/// A position in the pages of a query.
public struct StoreCursor: Sendable, Hashable {
  /// The query that the cursor belongs to.
  public let spec: QuerySpec
  /// The number of rows on all pages.
  public let totalEntries: Int
  /// The index of the current page, from 0.
  public private(set) var currentPageIndex = 0

  init(spec: QuerySpec, totalEntries: Int) {
    self.spec = spec
    self.totalEntries = totalEntries
  }

  /// The number of pages.
  public var totalPages: Int { (totalEntries + spec.pageSize - 1) / max(1, spec.pageSize) }

  /// Moves to a page; returns false, without moving, if it does not exist.
  @discardableResult
  public mutating func move(toPage index: Int) -> Bool {
    guard index >= 0, index < totalPages else { return false }
    currentPageIndex = index
    return true
  }

  /// Moves to the next page; returns false at the last.
  @discardableResult
  public mutating func moveToNextPage() -> Bool { move(toPage: currentPageIndex + 1) }

  /// The rows of the page as JSON text.
  public func entries(in store: Store) throws(StoreError) -> [String] {
    try store.query(spec, page: currentPageIndex)
  }

  /// The cursor in the format of hybrid apps.
  package func json(id: String, in store: Store) throws(StoreError) -> JSONValue {
    [
      "cursorId": .string(id), "currentPageIndex": JSONValue(currentPageIndex),
      "pageSize": JSONValue(spec.pageSize), "totalEntries": JSONValue(totalEntries),
      "totalPages": JSONValue(totalPages),
      "currentPageOrderedEntries": .array(
        try store.queryValues(spec, page: currentPageIndex)),
    ]
  }
}
