import Archive

/// The file of the records that a generation issued: `issued/<snapshot>/<generation>.sqlite`.
///
/// Rows are appended in any order, and found by an index of (Id, soup) that is made at the end. SQLite
/// does not notice a changed byte in a value, so each row has a checksum of its own.
enum IssuedRecordFile {
  /// `PRAGMA application_id`: "atir".
  static let applicationID: Int64 = 0x6174_6972
  /// `PRAGMA user_version`.
  static let version: Int64 = 1
  /// Bytes of a page: the file is written from its beginning to its end, and large pages cost fewer
  /// calls.
  static let pageBytes = 16_384

  static let tables = """
    CREATE TABLE soup (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE issued (
      soup INTEGER NOT NULL, id TEXT NOT NULL, modified TEXT, last_modified INTEGER,
      fields TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
    """
  static let index = "CREATE UNIQUE INDEX issued_by_id ON issued (id, soup)"

  /// The checksum of a row: of its numbers and lengths, then of its texts one behind the other.
  ///
  /// - Parameter texts: Id, modification date (which may be absent) and fields.
  static func checksum(
    soup: Int64, lastModified: Int64?, texts: (Int, Int?, Int), bytes: UnsafeRawBufferPointer
  ) -> Int64 {
    var hash = XXHash64()
    let head = [
      soup, lastModified ?? .min, Int64(texts.0), texts.1.map(Int64.init) ?? -1, Int64(texts.2),
    ].map(\.littleEndian)
    head.withUnsafeBytes { hash.update($0) }
    hash.update(bytes)
    return Int64(bitPattern: hash.value)
  }
}
