/// The file of the records that a generation issued: `bases/<id>/<generation>.base`.
///
/// One stream, compressed by Zstandard, of records in the order of (soup, Id): a marked beginning,
/// each record as lengths and bytes, and an end that says how many there were, so that a file cut
/// short is never taken for a small one.
enum IssuedRecordFormat {
  static let magic = Array("attache-base 1\n".utf8)
  static let recordMark: UInt8 = 1
  static let endMark: UInt8 = 0
  /// The length that stands for an absent part.
  static let absent = UInt32.max
  /// Bytes of the longest part that is read.
  static let longestPart = 64 << 20
}
