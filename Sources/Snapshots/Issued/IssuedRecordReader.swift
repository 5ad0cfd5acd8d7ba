import SQLite
import System

/// Looks up issued records by ID.
///
/// The file never changes once it has its name.
package final class IssuedRecordReader {
  private let connection: Connection
  private let soups: [Int64: String]
  private let byID: Statement
  private var path: String { connection.path }

  /// Opens a file; throws `SnapshotError.damaged` if it is invalid or incomplete.
  package init(path: String) throws(SnapshotError) {
    do {
      let connection = try Connection(path, mode: .immutable)
      soups = try IssuedRecordFile.soups(of: connection)
      byID = try connection.prepare(
        "SELECT soup, modified, last_modified, fields, checksum FROM issued WHERE id = ?")
      self.connection = connection
    } catch {
      throw IssuedRecordFile.readable(error, path)
    }
  }

  /// The records of `ids` in one soup, by ID.
  ///
  /// Records that were not issued are omitted.
  package func lookup(
    soup: String, ids: some Sequence<String>
  ) throws(SnapshotError) -> [String: IssuedRecord] {
    var found: [String: IssuedRecord] = [:]
    // In sorted order, each page of the file is read once.
    for id in Set(ids).sorted() {
      for record in try records(id: id) where record.soup == soup { found[id] = record }
    }
    return found
  }

  /// The records with an ID, one for each soup that contains it.
  package func records(id: String) throws(SnapshotError) -> [IssuedRecord] {
    do {
      defer { byID.reset() }
      try byID.bind(1, id)
      var found: [IssuedRecord] = []
      while try byID.step() { found.append(try record(id, byID)) }
      return found
    } catch {
      throw IssuedRecordFile.readable(error, path)
    }
  }

  private func record(_ id: String, _ row: Statement) throws(SnapshotError) -> IssuedRecord {
    let number = row.columnInteger(0)
    let modified = row.columnText(1)
    let lastModified = row.isNull(2) ? nil : row.columnInteger(2)
    let fields = [UInt8](row.columnBytes(3))
    let bytes = Array(id.utf8) + Array((modified ?? "").utf8) + fields
    let checksum = bytes.withUnsafeBytes {
      IssuedRecordFile.checksum(
        soup: number, lastModified: lastModified,
        texts: (id.utf8.count, modified?.utf8.count, fields.count), bytes: $0)
    }
    guard let soup = soups[number], checksum == row.columnInteger(4) else {
      throw IssuedRecordFile.damage(path, "have been modified")
    }
    return IssuedRecord(
      soup: soup, id: id, modified: modified, lastModified: lastModified, fields: fields)
  }

  /// Every issued ID, read from the index.
  package func allIDs() throws(SnapshotError) -> Set<String> {
    do {
      return Set(try connection.texts("SELECT id FROM issued ORDER BY id"))
    } catch {
      throw IssuedRecordFile.readable(error, path)
    }
  }
}
