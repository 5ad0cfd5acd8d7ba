import JSON

/// Creates the stored element: the record's bytes, Mobile Sync's members, SmartStore's members.
struct ElementComposer {
  /// The text between the record's members and the entry ID.
  private let head: [UInt8]
  /// The text between the entry ID and the time.
  private let middle: [UInt8]
  private let now: [UInt8]

  init(_ options: BulkLoader.Options) {
    var text = ""
    for name in [
      SyncField.local, SyncField.locallyCreated, SyncField.locallyUpdated,
      SyncField.locallyDeleted,
    ] {
      text += "\"\(name)\":false,"
    }
    if let id = options.syncID { text += "\"\(SyncField.syncID)\":\(id)," }
    head = Array((text + "\"\(StoreField.soupEntryID)\":").utf8)
    middle = Array(",\"\(StoreField.lastModified)\":".utf8)
    now = Array(String(options.now).utf8)
  }

  /// Appends the element of a record that is given without its closing brace.
  func append(_ body: UnsafeRawBufferPointer, id: Int64, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: body)
    if body.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(contentsOf: head)
    Self.append(id, to: &bytes)
    bytes.append(contentsOf: middle)
    bytes.append(contentsOf: now)
    bytes.append(UInt8(ascii: "}"))
  }

  /// The maximum number of bytes after a record's members.
  var mostOfTail: Int { head.count + middle.count + now.count + 24 }

  /// The text after a record's members, starting with a comma, and the range of the ID's digits in
  /// it.
  func tail(id: Int64) -> (bytes: [UInt8], digits: Range<Int>) {
    var bytes = [UInt8(ascii: ",")]
    bytes += head
    let start = bytes.count
    Self.append(id, to: &bytes)
    let digits = start..<bytes.count
    bytes += middle
    bytes += now
    bytes.append(UInt8(ascii: "}"))
    return (bytes, digits)
  }

  /// Whether a stored element equals the record, ignoring the time of storage, the order of members
  /// and the spelling of numbers, which have no meaning in JSON.
  func isUnchanged(
    _ stored: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, id: Int64
  ) -> Bool {
    isSame(stored, body, id: id) || isRespelled(stored, body, id: id)
      || isReordered(stored, body, id: id)
  }

  /// A query job may spell a number differently from a page.
  private func isRespelled(
    _ stored: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, id: Int64
  ) -> Bool {
    var fresh: [UInt8] = []
    append(body, id: id, to: &fresh)
    let ending = now.count + 1
    guard stored.count > ending else { return false }
    return fresh.withUnsafeBytes { fresh in
      JSONNumbers.areSameButForSpelling(
        UnsafeRawBufferPointer(rebasing: stored[..<(stored.count - ending)]),
        UnsafeRawBufferPointer(rebasing: fresh[..<(fresh.count - ending)]))
    }
  }

  /// Only elements with the same bytes in another order are compared: an org that reorders members
  /// does not change their spelling.
  private func isReordered(
    _ stored: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, id: Int64
  ) -> Bool {
    var fresh: [UInt8] = []
    append(body, id: id, to: &fresh)
    guard fresh.count == stored.count, fresh.withUnsafeBytes({ mayBeReordered(stored, $0) }),
      var old = (try? JSONValue(parsing: stored))?.object,
      var new = (try? JSONValue(parsing: fresh))?.object
    else { return false }
    old[StoreField.lastModified] = nil
    new[StoreField.lastModified] = nil
    return old == new
  }

  /// Whether two elements of equal length have the same bytes in any order, ignoring the time at
  /// their ends.
  ///
  /// Most changed records have not, so they need not be parsed as JSON.
  private func mayBeReordered(
    _ stored: UnsafeRawBufferPointer, _ fresh: UnsafeRawBufferPointer
  ) -> Bool {
    let place = fresh.count - now.count - 1
    let tail = UnsafeRawBufferPointer(rebasing: stored[(place - middle.count)...])
    guard middle.withUnsafeBytes({ Bytes.starts(tail, with: $0) }) else { return true }
    return Self.sum(stored[..<place]) == Self.sum(fresh[..<place])
  }

  /// A checksum that does not depend on the order of bytes, and that few other texts share.
  private static func sum(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
    var sum: UInt64 = 0
    for byte in UnsafeRawBufferPointer(rebasing: bytes) {
      let value = UInt64(byte)
      sum &+= value &* value &* value
    }
    return sum
  }

  private func isSame(
    _ stored: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, id: Int64
  ) -> Bool {
    guard stored.count > body.count, Bytes.starts(stored, with: body) else { return false }
    var rest = UnsafeRawBufferPointer(rebasing: stored[body.count...])
    func take(_ expected: [UInt8]) -> Bool {
      guard expected.withUnsafeBytes({ Bytes.starts(rest, with: $0) }) else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[expected.count...])
      return true
    }
    if body.count > 1, !take([UInt8(ascii: ",")]) { return false }
    var digits: [UInt8] = []
    Self.append(id, to: &digits)
    guard take(head), take(digits), take(middle), rest.count > 1 else { return false }
    return rest.last == UInt8(ascii: "}")
      && rest.dropLast().allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }

  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    guard number >= 10 else {
      bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number))
      return
    }
    append(number / 10, to: &bytes)
    bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number % 10))
  }
}
