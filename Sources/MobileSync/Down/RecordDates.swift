import JSON
import System

/// The last change of each record of a list, by the values of its ID field.
package struct RecordDates: Sendable {
  private var dates: [RecordIDSet.Key: Int64] = [:]
  private var others: [String: Int64] = [:]

  /// The record's last change, in milliseconds; nil if it is not in the list.
  subscript(_ id: UnsafeRawBufferPointer) -> Int64? {
    if let key = RecordIDSet.key(id) { return dates[key] }
    return others[String(decoding: id, as: UTF8.self)]
  }

  /// The last change of the record with an ID from a page; nil for a number, since records are not
  /// requested by number.
  subscript(_ id: PageID) -> Int64? {
    guard case .text(let text) = id else { return nil }
    return self[text]
  }

  /// Adds the dates of a page's records.
  mutating func insert(
    _ page: [UInt8], _ idField: String, _ dateField: String,
    in container: RecordScanner.Container = .member("records")
  ) throws(SyncError) {
    try SyncError.reading("a page of IDs") {
      try page.withUnsafeBytes { bytes in
        _ = try RecordScanner(paths: [idField, dateField]).scan(bytes, in: container) {
          _, _, fields in
          guard fields[1].kind == .string,
            let date = Dates.milliseconds(
              iso8601: String(decoding: bytes[fields[1].range], as: UTF8.self))
          else { return }
          PageID.reading(fields[0], in: bytes) { id in
            if case .text(let text) = id { insert(text, date) }
          }
        }
      }
    }
  }

  /// Adds the dates of another part of the list.
  mutating func merge(_ other: RecordDates) {
    dates.merge(other.dates) { $1 }
    others.merge(other.others) { $1 }
  }

  private mutating func insert(_ id: UnsafeRawBufferPointer, _ date: Int64) {
    if let key = RecordIDSet.key(id) {
      dates[key] = date
    } else {
      others[String(decoding: id, as: UTF8.self)] = date
    }
  }
}

extension SoupReader {
  /// Returns the IDs of the clean elements of the given syncs whose dates differ from the org's.
  ///
  /// A record that changed while it did not match is not found by a query for changes, since other
  /// records may have moved the cursor past its date.
  func outdated(
    _ dates: RecordDates, idPath: String, modificationPath: String, syncIDs: [Int64]
  ) throws(SyncError) -> [String] {
    var ids: [String] = []
    let own = syncIDs.map { Array(String($0).utf8) }
    try SyncError.inStore {
      let paths = [idPath, modificationPath, LocalFields.syncID]
      try store.forEachElement(in: soup, paths: paths, .clean(syncID: nil)) { element in
        guard element.fields[1].kind == .string,
          own.contains(where: { element.raw(2).elementsEqual($0) }),
          let date = PageID.reading(element.fields[0], in: element.bytes, { dates[$0] }) ?? nil,
          let stored = element.text(1).flatMap({ Dates.milliseconds(iso8601: $0) }), stored != date,
          let id = element.text(0)
        else { return }
        ids.append(id)
      }
    }
    return ids
  }
}
