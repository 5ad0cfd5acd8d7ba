import JSON
import SQLite

/// The records of a page: their positions, the positions of their members, and their stored form.
struct RecordBatch {
  /// The bytes of the page.
  ///
  /// The user of the batch must keep them valid (`of`).
  private(set) var page = UnsafeRawBufferPointer(start: nil, count: 0)
  private(set) var records: [Range<Int>] = []
  private var fields: [JSONSpan] = []
  private var stride = 0
  /// The records that contained reserved members, without these.
  private var rewritten: [Int: [UInt8]] = [:]
  private(set) var nulls = 0
  private(set) var latestModification: [UInt8] = []

  var count: Int { records.count }

  /// Parses a page.
  ///
  /// The previous content is discarded and its memory reused.
  mutating func read(
    _ page: UnsafeRawBufferPointer, in container: RecordScanner.Container, plan: RecordPlan
  ) throws {
    self.page = page
    stride = plan.scanner.paths.count
    rewritten.removeAll(keepingCapacity: true)
    // The closure uses locals, because access to a stored property is checked each time.
    var records = self.records
    var fields = self.fields
    self.records = []
    self.fields = []
    records.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    var replaced: [Int] = []
    var latest: Range<Int>?
    var withoutID: Int?
    let found = try plan.scanner.scan(page, in: container) {
      (index: Int, record: Range<Int>, spans: UnsafeBufferPointer<JSONSpan>) in
      records.append(record)
      fields.append(contentsOf: spans)
      let id = spans[RecordPlan.id]
      if id.kind != .string || id.start == id.end, !Self.isRareID(id) {
        withoutID = withoutID ?? index
      }
      if RecordPlan.hasReplaced(spans) { replaced.append(index) }
      let modification = spans[RecordPlan.modification]
      if modification.kind == .string {
        if let known = latest, !Bytes.isLess(page, known, modification.range) { return }
        latest = modification.range
      }
    }
    self.records = records
    self.fields = fields
    nulls = found.nulls
    latestModification = latest.map { Array(page[$0]) } ?? []
    if let withoutID {
      throw StoreError.recordWithoutID(
        soup: plan.options.soup, record: withoutID, path: plan.options.idPath)
    }
    for index in replaced { rewritten[index] = try Self.rewrite(page, records[index]) }
  }

  /// The batch of the same page, whose bytes have moved here.
  func of(_ page: UnsafeRawBufferPointer) -> RecordBatch {
    var batch = self
    batch.page = page
    return batch
  }

  /// The position of a record's member.
  @inline(__always)
  func field(_ record: Int, _ slot: Int) -> JSONSpan { fields[record &* stride &+ slot] }

  /// The bytes of a member's text.
  @inline(__always)
  func bytes(_ span: JSONSpan) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: page[span.range])
  }

  /// Whether a member that is not plain text is still an ID: the SDKs accept text with escapes, and
  /// numbers.
  private static func isRareID(_ id: JSONSpan) -> Bool {
    id.kind == .number || id.kind == .escapedString
  }

  /// The text of a record's ID, as in a store's index of `type`.
  func id(_ record: Int, in store: Store, _ type: IndexType) throws -> String {
    let span = field(record, RecordPlan.id)
    if span.kind == .string { return String(decoding: bytes(span), as: UTF8.self) }
    return try store.text(ofID: span, in: page, type) ?? ""
  }

  /// The value with which a record's ID is compared in an index of `type`; nil for plain text,
  /// which is compared by its bytes.
  @inline(__always)
  func idValue(_ record: Int, in store: Store, _ type: IndexType) -> SQLiteValue? {
    let span = field(record, RecordPlan.id)
    if span.kind == .string { return nil }
    return store.value(ofID: span, in: page, type)
  }

  /// The record without its closing brace.
  func withBody<T>(_ record: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    if !rewritten.isEmpty, let bytes = rewritten[record] {
      return try bytes.withUnsafeBytes(body)
    }
    let range = records[record]
    var end = range.upperBound - 1
    while end > range.lowerBound + 1, Bytes.isSpace(page[end - 1]) { end -= 1 }
    return try body(UnsafeRawBufferPointer(rebasing: page[range.lowerBound..<end]))
  }

  /// The value to bind for a column with a member of the record.
  func value(
    _ record: Int, slot: Int, type: IndexType, path: String, platform: Platform
  ) throws -> SQLiteValue {
    let span = field(record, slot)
    switch span.kind {
    case .missing, .null: return .null
    case .true, .false:
      return IndexValue.bound(flag: span.kind == .true, type: type, platform: platform)
    case .number:
      let literal = String(decoding: bytes(span), as: UTF8.self)
      return IndexValue.bound(number: literal, type: type, platform: platform)
    case .string:
      return IndexValue.bound(
        text: String(decoding: bytes(span), as: UTF8.self), type: type, platform: platform)
    case .escapedString:
      var text: [UInt8] = []
      try JSONText.unescape(bytes(span), into: &text)
      return IndexValue.bound(
        text: String(decoding: text, as: UTF8.self), type: type, platform: platform)
    case .array, .object:
      // A path through an array ends here too. Only the parsed tree has its value.
      let element = try JSONValue(
        parsing: UnsafeRawBufferPointer(rebasing: page[records[record]]))
      return IndexValue.bound(
        JSONProjection.project(path, from: element), type: type, platform: platform)
    }
  }

  /// The record without reserved members and without its closing brace.
  private static func rewrite(
    _ page: UnsafeRawBufferPointer, _ record: Range<Int>
  ) throws -> [UInt8] {
    let value = try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: page[record]))
    var object = value.object ?? JSONObject()
    for name in SyncField.replaced { object[name] = nil }
    return JSONValue.object(object).bytes.dropLast()
  }
}

/// Operations on bytes that the hot path shares.
enum Bytes {
  /// Whether one range sorts before another, byte by byte.
  ///
  /// Suitable for dates in the same format.
  @inline(__always)
  static func isLess(
    _ page: UnsafeRawBufferPointer, _ left: Range<Int>, _ right: Range<Int>
  ) -> Bool {
    var a = left.lowerBound
    var b = right.lowerBound
    while a < left.upperBound, b < right.upperBound {
      if page[a] != page[b] { return page[a] < page[b] }
      a &+= 1
      b &+= 1
    }
    return left.count < right.count
  }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }

  static func starts(_ bytes: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= prefix.count else { return false }
    guard let a = bytes.baseAddress, let b = prefix.baseAddress else { return true }
    var offset = 0
    while offset &+ 8 <= prefix.count {
      let left = a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let right = b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if left != right { return false }
      offset &+= 8
    }
    while offset < prefix.count {
      if bytes[offset] != prefix[offset] { return false }
      offset &+= 1
    }
    return true
  }
}
