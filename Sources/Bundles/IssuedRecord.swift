/// One record as a generation gave it to its devices, kept for the comparison with what comes back.
package struct IssuedRecord: Sendable, Hashable {
  /// The soup.
  package var soup: String
  /// The record's 18-character Id.
  package var id: String
  /// The server's modification date as it stands in the element.
  package var modified: String?
  /// The server's SystemModstamp, if it was asked for.
  package var stamp: String?
  /// The element's `_soupLastModifiedDate` as issued.
  package var lastModified: Int64?
  /// One JSON object of the fields that the sync-ups may send; a field that is not in it was not in
  /// the element.
  package var fields: [UInt8]

  /// Makes a record of its parts.
  package init(
    soup: String, id: String, modified: String?, stamp: String?, lastModified: Int64? = nil,
    fields: [UInt8]
  ) {
    self.soup = soup
    self.id = id
    self.modified = modified
    self.stamp = stamp
    self.lastModified = lastModified
    self.fields = fields
  }

  /// Whether `self` stands before (soup, id) in a base.
  func isBefore(_ soup: String, _ id: String) -> Bool {
    self.soup == soup
      ? self.id.utf8.lexicographicallyPrecedes(id.utf8)
      : self.soup.utf8.lexicographicallyPrecedes(soup.utf8)
  }
}
