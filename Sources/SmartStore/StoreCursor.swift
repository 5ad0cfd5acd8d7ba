import JSON

/// A place in the pages of a query.
public struct StoreCursor: Sendable, Hashable {
  /// The query.
  public let spec: QuerySpec
  /// The rows on all pages.
  public let totalEntries: Int
  /// The page that it stands on, from 0.
  public private(set) var currentPageIndex = 0

  init(spec: QuerySpec, totalEntries: Int) {
    self.spec = spec
    self.totalEntries = totalEntries
  }

  /// The number of pages.
  public var totalPages: Int { (totalEntries + spec.pageSize - 1) / max(1, spec.pageSize) }

  /// Goes to a page; false and no move where there is none.
  @discardableResult
  public mutating func move(toPage index: Int) -> Bool {
    guard index >= 0, index < totalPages else { return false }
    currentPageIndex = index
    return true
  }

  /// Goes to the next page; false at the last.
  @discardableResult
  public mutating func moveToNextPage() -> Bool { move(toPage: currentPageIndex + 1) }

  /// The rows of the page as JSON text.
  public func entries(in store: Store) throws(StoreError) -> [String] {
    try store.query(spec, page: currentPageIndex)
  }

  /// The cursor as hybrid apps get it.
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
