import JSON
import Ledger
import MobileSync
import Salesforce
import SmartStore

/// A soup to read, with the members that its sync up names.
package struct SoupReading: Sendable, Hashable {
  package var soup: String
  /// The member that contains the record's ID.
  package var idField: String
  /// The member that contains the modification date of the server's record.
  package var modificationField: String

  /// A soup.
  ///
  /// Without a sync up, the members have the platform's default names.
  package init(
    soup: String, idField: String = TargetFields().idFieldName,
    modificationField: String = TargetFields().modificationDateFieldName
  ) {
    self.soup = soup
    self.idField = idField
    self.modificationField = modificationField
  }
}

/// Distinguishes an edit without local flags from an unchanged row.
package struct UnflaggedRule {
  /// Returns the issued values of a row's record; nil if they are unknown, or if the row still has
  /// its issued date, which is given in ms.
  package var base: (_ soup: String, _ id: String, _ lastModified: Int64) throws -> MergeBase?
  /// Whether a row that was written since then, with its merge base and its element, is an edit.
  package var isEdit: (Edit, JSONObject) -> Bool

  package init(
    base: @escaping (_ soup: String, _ id: String, _ lastModified: Int64) throws -> MergeBase?,
    isEdit: @escaping (Edit, JSONObject) -> Bool
  ) {
    (self.base, self.isEdit) = (base, isEdit)
  }
}

/// Distinguishes rows that the device has written from rows that are as they were issued.
///
/// The device's clock may be wrong by years. A row date later than the store's creation shows that
/// the row was written; an earlier one shows nothing. In that case the row date is compared with
/// the dates that rows were issued with, which are those of a few primes.
package final class IssuedDates {
  private let made: Int64
  private let lastModified: ((_ soup: String, _ id: String) throws -> Int64?)?
  private var known: Set<Int64> = []
  private var last: Int64?

  /// For a store created at a time, in ms.
  ///
  /// `lastModified` returns the date that a record was issued with, or nil if the issued records
  /// are unknown.
  package init(
    made: Int64, lastModified: ((_ soup: String, _ id: String) throws -> Int64?)? = nil
  ) {
    (self.made, self.lastModified) = (made, lastModified)
  }

  /// Whether rows are known to have been issued with a date.
  func isKnown(_ date: Int64) -> Bool {
    if date == last { return true }
    guard known.contains(date) else { return false }
    last = date
    return true
  }

  /// Whether the device has written an unflagged row.
  func isOfDevice(_ date: Int64, _ soup: String, id: @autoclosure () -> String?) throws -> Bool {
    if date > made { return true }
    guard let lastModified, !isKnown(date) else { return false }
    guard let id = id(), try lastModified(soup, id) == date else { return true }
    known.insert(date)
    last = date
    return false
  }
}

/// The content of a returned store, or of all stores of a return.
package struct StoreReading: Sendable {
  /// The dirty rows, and the rows that cannot be read.
  package var edits: [Edit] = []
  /// The unchanged ones among the requested rows.
  package var witnesses: [CleanRow] = []
  /// The number of rows in each soup.
  package var totals: [SoupKey: Int] = [:]
  /// The soups that were searched for edits without flags.
  package var compared: Set<SoupKey> = []
  /// The expected soups that are missing.
  package var missing: [String] = []
  /// The warnings for the operator.
  package var warnings: [String] = []
  /// The number of edits that contain unpaired surrogates, each read as U+FFFD.
  fileprivate var halved = 0

  /// Creates an empty reading.
  package init() {}
}

/// Reads the edits of a returned store that was validated.
///
/// A row is dirty if its element says so, in any spelling that the platform's SDK accepts as true,
/// or if its index says so, as the device's own sync reads it. Every write by an SDK sets the row's
/// date, so a row that still has the date of a prime and is clean by the index is not parsed. An
/// unreadable row becomes an edit with a finding, and does not affect other rows.
package enum EditReader {
  /// Reads `soups` of a store.
  ///
  /// `witnesses` are rows that earlier returns had as edits.
  ///
  /// Unflagged rows that the device has written, according to `issued`, are recorded as unchanged
  /// rows as well: they identify an older copy of the store that arrives later. With `unflagged`,
  /// clean rows are also examined for edits.
  package static func read(
    store: Store, key: StoreKey, soups: [SoupReading], witnesses: Set<RowKey> = [],
    issued: IssuedDates? = nil, recordMiB: Int = InboxLimits().recordMiB,
    unflagged: UnflaggedRule? = nil
  ) throws -> StoreReading {
    var reading = StoreReading()
    for soup in soups {
      guard try store.hasSoup(soup.soup) else {
        reading.missing.append(soup.soup)
        continue
      }
      let asked = witnesses.filter { $0.store == key && $0.soup == soup.soup }
      let reader = DirtyRowReader(
        key: key, soup: soup, witnesses: Set(asked.map(\.soupEntryID)), issued: issued,
        recordBytes: recordMiB << 20, platform: store.platform, unflagged: unflagged,
        isIndexed: try store.tellsDirtyRows(of: soup.soup))
      var rows = 0
      let first = reading.edits.count
      // Most rows are skipped, so allocate nothing for each of them.
      let spans = UnsafeMutableBufferPointer<JSONSpan>.allocate(capacity: 2)
      spans.initialize(repeating: .missing)
      defer { spans.deallocate() }
      try store.forEachStoredRow(in: soup.soup) { row in
        rows += 1
        try reader.read(row, spans, into: &reading)
      }
      reading.totals[SoupKey(store: key, soup: soup.soup)] = rows
      markDoubles(&reading.edits[first...])
    }
    if reading.halved > 0 {
      reading.warnings.append(
        "in \(reading.halved) of the edited elements an unpaired surrogate was replaced by U+FFFD")
    }
    return reading
  }

  /// Returns the unchanged ones among rows that earlier returns had as edits, as far as `reading`
  /// of the same store lacks them, in the order of a full read.
  package static func witnesses(
    store: Store, key: StoreKey, soups: [SoupReading], rows: [RowKey],
    besides reading: StoreReading,
    recordMiB: Int = InboxLimits().recordMiB
  ) throws -> [CleanRow] {
    let found = Set(reading.edits.map(\.row) + reading.witnesses.map(\.row))
    let asked = Dictionary(grouping: Set(rows.filter { $0.store == key }).subtracting(found)) {
      $0.soup
    }
    let spans = UnsafeMutableBufferPointer<JSONSpan>.allocate(capacity: 2)
    spans.initialize(repeating: .missing)
    defer { spans.deallocate() }
    var witnesses: [CleanRow] = []
    for soup in soups {
      var known = reading.witnesses.filter { $0.row.soup == soup.soup }
      let ids = asked[soup.soup, default: []].map(\.soupEntryID).sorted()
      if !ids.isEmpty, try store.hasSoup(soup.soup) {
        let reader = DirtyRowReader(
          key: key, soup: soup, witnesses: Set(ids), issued: nil, recordBytes: recordMiB << 20,
          platform: store.platform, unflagged: nil)
        var more = StoreReading()
        try store.forEachStoredRow(of: ids, in: soup.soup) { row in
          try reader.read(row, spans, into: &more)
        }
        known = (known + more.witnesses).sorted { $0.row.soupEntryID < $1.row.soupEntryID }
      }
      witnesses += known
    }
    return witnesses
  }

  /// Marks two dirty rows of one record as ambiguous.
  private static func markDoubles(_ edits: inout ArraySlice<Edit>) {
    var counts: [String: Int] = [:]
    for id in edits.compactMap({ $0.serverID ?? $0.localID }) { counts[id, default: 0] += 1 }
    for index in edits.indices {
      guard let id = edits[index].serverID ?? edits[index].localID, counts[id, default: 0] > 1
      else { continue }
      edits[index].finding = "several changed rows of the soup have the same Id"
    }
  }
}

/// Reads the rows of one soup.
private struct DirtyRowReader {
  let key: StoreKey
  let soup: SoupReading
  /// The rows of the soup that earlier returns had as edits.
  let witnesses: Set<Int64>
  private let issued: IssuedDates?
  let recordBytes: Int
  /// The platform, whose SDK determines how a set flag is spelled.
  let platform: Platform
  private let unflagged: UnflaggedRule?
  /// Whether the index alone shows that a row with the date of a prime is unchanged.
  private let mayTrustIndex: Bool
  private let scanner: RecordScanner

  init(
    key: StoreKey, soup: SoupReading, witnesses: Set<Int64>, issued: IssuedDates?, recordBytes: Int,
    platform: Platform, unflagged: UnflaggedRule?, isIndexed: Bool = false
  ) {
    self.unflagged = unflagged
    mayTrustIndex = isIndexed && unflagged == nil
    self.key = key
    self.soup = soup
    self.witnesses = witnesses
    self.issued = issued
    self.recordBytes = recordBytes
    self.platform = platform
    scanner = RecordScanner(paths: [LocalFields.local, soup.idField])
  }

  /// Reads a row.
  ///
  /// `spans` is scratch space for the locations of two members.
  func read(
    _ row: borrowing StoredRow, _ spans: UnsafeMutableBufferPointer<JSONSpan>,
    into reading: inout StoreReading
  ) throws {
    if mayTrustIndex, !row.isIndexedDirty, issued?.isKnown(row.lastModified) == true,
      !witnesses.contains(row.soupEntryID)
    {
      return
    }
    let isLong = row.isTooLong || row.bytes.count > recordBytes
    if row.isTooLong {
      spans.update(repeating: .missing)
    } else {
      do {
        try scanner.scan(record: row.bytes, into: spans)
      } catch {
        if !isLong, let whole = JSONText.withoutHalves(row.bytes) {
          let before = reading.edits.count
          try whole.withUnsafeBytes { try read(row.holding($0), spans, into: &reading) }
          reading.halved += reading.edits.count - before
          return
        }
        reading.edits.append(
          isLong
            ? tooLong(row)
            : finding(row, "the element is not a JSON object", element: Array(row.bytes)))
        return
      }
    }
    guard row.isIndexedDirty || platform.isSet(spans[0], in: row.bytes) else {
      if unflagged != nil, !isLong, let edit = try unflaggedEdit(row, spans[1]) {
        reading.edits.append(edit)
        return
      }
      let isOfDevice = try issued?.isOfDevice(
        row.lastModified, soup.soup, id: recordID(row, spans[1]))
      if isOfDevice == true || witnesses.contains(row.soupEntryID) {
        reading.witnesses.append(witness(row, spans[1]))
      }
      return
    }
    reading.edits.append(isLong ? tooLong(row) : edit(row).edit)
  }

  private func place(_ row: borrowing StoredRow) -> RowKey {
    RowKey(store: key, soup: soup.soup, soupEntryID: row.soupEntryID)
  }

  /// Returns the edit of a row that its app changed without flagging it; nil for any other row.
  private func unflaggedEdit(_ row: borrowing StoredRow, _ id: JSONSpan) throws -> Edit? {
    guard let unflagged, let serverID = recordID(row, id),
      let base = try unflagged.base(soup.soup, serverID, row.lastModified)
    else { return nil }
    var (edit, element) = edit(row)
    edit.base = base
    guard let element, edit.finding == nil else { return nil }
    return unflagged.isEdit(edit, element) ? edit : nil
  }

  /// Returns the edit of a row that exceeds the maximum length.
  ///
  /// Unchanged rows may have any length.
  private func tooLong(_ row: borrowing StoredRow) -> Edit {
    finding(row, "the element is longer than \(recordBytes >> 20) MiB", element: [])
  }

  private func finding(
    _ row: borrowing StoredRow, _ words: String, element: [UInt8]
  ) -> Edit {
    Edit(
      row: place(row), created: row.created, lastModified: row.lastModified, element: element,
      operation: .update, finding: words)
  }

  private func witness(_ row: borrowing StoredRow, _ id: JSONSpan) -> CleanRow {
    CleanRow(
      row: place(row), created: row.created, lastModified: row.lastModified,
      serverID: recordID(row, id))
  }

  private func recordID(_ row: borrowing StoredRow, _ id: JSONSpan) -> String? {
    guard id.kind == .string else { return nil }
    return String(decoding: row.bytes[Int(id.start)..<Int(id.end)], as: UTF8.self).recordID18
  }

  /// Returns the edit of a row with its parsed element.
  private func edit(_ row: borrowing StoredRow) -> (edit: Edit, element: JSONObject?) {
    let bytes = Array(row.bytes)
    // Parse the whole element, because only valid JSON can be sent and compared.
    guard let element = try? JSONValue(parsing: bytes) else {
      return (finding(row, "the element is not a JSON object", element: bytes), nil)
    }
    let local = LocalState(element: element, platform: platform)
    var edit = Edit(
      row: place(row), created: row.created, lastModified: row.lastModified, element: bytes,
      operation: EditOperation(isCreated: local.isCreated, isDeleted: local.isDeleted))
    edit.content = ElementContent.digest(of: element)
    edit.sobject = element["attributes"]?["type"]?.string
    edit.modificationDate = element[soup.modificationField]?.string
    switch element[soup.idField] {
    case .string(let id)?:
      if LocalFields.isLocalID(id) || local.isCreated && RecordID(id) == nil {
        edit.localID = id
      } else if let id = id.recordID18 {
        edit.serverID = id
      } else {
        edit.finding = "\(soup.idField) of the element is not a record Id"
      }
    case nil, .null?:
      if !local.isCreated { edit.finding = "the element has no \(soup.idField)" }
    case .some:
      edit.finding = "\(soup.idField) of the element is not text"
    }
    return (edit, element.object)
  }
}
