import JSON
import System

/// The values of one user's own fields, by record.
///
/// They are in memory only, and are put into shared records where the org's response to the user
/// would have them.
final class OwnValues {
  /// Where the values of a record start, and the state of the record that they belong to.
  private struct Slot {
    var start: Int32
    var version: Int64
  }

  /// The size of the values in memory; the user fetches the records whose values do not fit.
  static let mostBytes = 8 << 20

  let fields: [String]
  private let ofList: RecordScanner
  private let ofShelf: RecordScanner
  private var slots: [RecordIDSet.Key: Slot] = [:]
  /// The values of a record in the order of the fields, each after its length in four bytes.
  private var bytes: [UInt8] = []

  /// Creates values of a class; nil if it has no fields of the user's own.
  init?(_ name: ReadingClass?) {
    guard let name, !name.own.isEmpty else { return nil }
    fields = name.own
    ofList = RecordScanner(paths: ["Id", ReadingClass.stamp] + name.own)
    ofShelf = RecordScanner(paths: ["Id"] + name.own)
  }

  /// Adds the values in a page of the user's own records; `version` returns the version of a record
  /// with a stamp, and of one without.
  func insert(
    _ page: [UInt8], in container: RecordScanner.Container, version: (_ stamp: Int64?) -> Int64
  ) throws(SyncError) {
    try SyncError.reading("a page of records") {
      try page.withUnsafeBytes { raw in
        _ = try ofList.scan(raw, in: container) { _, _, spans in
          guard spans[0].kind == .string,
            let key = RecordIDSet.key(UnsafeRawBufferPointer(rebasing: raw[spans[0].range])),
            !spans.dropFirst(2).contains(where: { $0.kind == .missing })
          else { return }
          let stamp =
            spans[1].kind == .string
            ? Dates.milliseconds(
              iso8601: UnsafeRawBufferPointer(rebasing: raw[spans[1].range])) : nil
          let start = bytes.count
          for span in spans.dropFirst(2) {
            let value = raw[JSONSplice.whole(span)]
            withUnsafeBytes(of: UInt32(value.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: value)
          }
          if bytes.count > Self.mostBytes {
            bytes.removeSubrange(start...)
            slots[key] = nil
          } else {
            slots[key] = Slot(start: Int32(start), version: version(stamp))
          }
        }
      }
    }
  }

  /// Whether there are values of a record in the listed state.
  func has(_ entry: BriefcaseListing.Entry) -> Bool {
    guard let key = RecordIDSet.key(entry.id.utf8) else { return false }
    return slots[key]?.version == entry.stamp
  }

  /// Returns an array of shared records with the user's values; nil if a record lacks them or the
  /// field of one.
  func splice(_ records: [UInt8]) throws(SyncError) -> [UInt8]? {
    var output = [UInt8(ascii: "[")]
    output.reserveCapacity(records.count + records.count / 4)
    var edits: [JSONSplice.Edit] = []
    var isWhole = true
    try SyncError.reading("records of the pool") {
      try records.withUnsafeBytes { raw in
        _ = try ofShelf.scan(raw, in: .array) { index, range, spans in
          guard spans[0].kind == .string,
            let key = RecordIDSet.key(UnsafeRawBufferPointer(rebasing: raw[spans[0].range])),
            let slot = slots[key], !spans.contains(where: { $0.kind == .missing })
          else {
            isWhole = false
            return
          }
          edits.removeAll(keepingCapacity: true)
          var start = Int(slot.start)
          for span in spans.dropFirst() {
            let count = bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            let end = start + 4 + count
            edits.append(JSONSplice.Edit(JSONSplice.whole(span), bytes[start + 4..<end]))
            start = end
          }
          if index > 0 { output.append(UInt8(ascii: ",")) }
          JSONSplice.append(range, of: raw, &edits, to: &output)
        }
      }
    }
    output.append(UInt8(ascii: "]"))
    return isWhole ? output : nil
  }
}
