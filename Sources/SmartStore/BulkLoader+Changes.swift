import JSON
import SQLite

extension BulkLoader {
  /// The changes that a page would make to a store.
  package struct PageChanges: Sendable, Hashable {
    /// The number of records in the page.
    package var records = 0
    /// The number of null elements.
    package var nulls = 0
    /// The greatest modification date, as written in the page.
    package var latestModification: String?
    /// The indexes of the new or different records in the page.
    package var changed: [Int] = []
    /// The byte ranges of those records in the page.
    package var ranges: [Range<Int>] = []

    /// Whether the page would change nothing.
    package var isEmpty: Bool { changed.isEmpty }
  }

  /// Finds the records of a page that the store does not have byte for byte, without writing
  /// anything.
  ///
  /// With it, a run that changes nothing need not copy a store. The store may be read-only. IDs in
  /// `skip` do not count as changes.
  package static func changes(
    in page: UnsafeRawBufferPointer, _ container: RecordScanner.Container, against store: Store,
    options: Options, skip: Set<String> = []
  ) throws(StoreError) -> PageChanges {
    try StoreError.mapping {
      let soup = try store.find(options.soup)
      let plan = RecordPlan(options, soups: [])
      var batch = RecordBatch()
      do {
        try batch.read(page, in: container, plan: plan)
      } catch let error as JSONError {
        throw StoreError.invalidPage(soup: options.soup, reason: error.description)
      }
      var changes = PageChanges()
      changes.records = batch.count
      changes.nulls = batch.nulls
      changes.latestModification = batch.latestModificationText
      let composer = ElementComposer(options)
      let type = soup.map { store.idType(of: $0, at: options.idPath) } ?? .string
      for record in 0..<batch.count {
        if !skip.isEmpty, try skip.contains(batch.id(record, in: store, type)) { continue }
        if let soup, try isStored(record, batch, composer, soup, store, options) { continue }
        changes.changed.append(record)
        changes.ranges.append(batch.records[record])
      }
      return changes
    }
  }

  private static func isStored(
    _ record: Int, _ batch: RecordBatch, _ composer: ElementComposer, _ soup: Soup,
    _ store: Store, _ options: Options
  ) throws -> Bool {
    guard let column = soup.column(of: options.idPath, on: store.platform) else {
      throw StoreError.noIndex(soup: soup.name, path: options.idPath)
    }
    let type = store.idType(of: soup, at: options.idPath)
    let wanted =
      try batch.idValue(record, in: store, type) ?? .text(batch.id(record, in: store, type))
    var found = 0
    var isSame = false
    try store.connection.rows(
      """
      SELECT id, soup FROM \(raw: soup.table) WHERE \(raw: column) = \(wanted)
      """
    ) { row in
      found += 1
      let id = row.integer(0)
      let stored = row.bytes(1)
      isSame = batch.withBody(record) { composer.isUnchanged(stored, $0, id: id) }
    }
    return found == 1 && isSame
  }
}
