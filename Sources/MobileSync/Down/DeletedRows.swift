import JSON

/// Removes the deleted rows from a page of `queryAll` that has `IsDeleted` among its fields.
///
/// The remaining records are byte for byte what `query` would have returned: the added member is
/// cut out of each, wherever it is, because members have no order.
package struct DeletedRows {
  let idField: String
  /// Whether to remove `IsDeleted`; a query that selects it keeps it.
  let cutsMember: Bool

  package init(idField: String, cutsMember: Bool) {
    self.idField = idField
    self.cutsMember = cutsMember
  }

  /// Returns the remaining records as `{"records":[…]}`, and the IDs of the deleted ones.
  package func split(_ page: [UInt8]) throws(SyncError) -> (living: [UInt8], deleted: [String]) {
    var living = Array(#"{"records":["#.utf8)
    living.reserveCapacity(page.count)
    var deleted: [String] = []
    let scanner = RecordScanner(paths: [idField, "IsDeleted"])
    try SyncError.reading("a page of records") {
      try page.withUnsafeBytes { bytes in
        var isFirst = true
        _ = try scanner.scan(bytes, in: .member("records")) { _, record, fields throws(SyncError) in
          let flag = fields[1]
          guard flag.kind == .true || flag.kind == .false, let id = fields[0].text(in: bytes) else {
            throw Self.unreadable
          }
          if flag.kind == .true {
            deleted.append(id)
            return
          }
          if !isFirst { living.append(UInt8(ascii: ",")) }
          isFirst = false
          guard cutsMember else {
            living.append(contentsOf: bytes[record])
            return
          }
          let member = JSONSplice.member(of: flag, in: bytes)
          living.append(contentsOf: bytes[record.lowerBound..<member.lowerBound])
          living.append(contentsOf: bytes[member.upperBound..<record.upperBound])
        }
      }
    }
    living.append(contentsOf: "]}".utf8)
    return (living, deleted)
  }

  private static let unreadable = SyncError(
    .badResponse, "a record of queryAll does not show whether it is deleted",
    fix: "retry; if it happens again, the org's responses cannot be trusted")
}
