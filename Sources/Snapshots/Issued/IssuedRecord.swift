/// One record as a generation gave it to its devices, kept for the comparison with what comes back.
package struct IssuedRecord: Sendable, Hashable {
  /// The soup, as `PrimeInput.key` names it.
  package var soup: String
  /// The record's 18-character Id.
  package var id: String
  /// The server's modification date as it stands in the element.
  package var modified: String?
  /// The element's `_soupLastModifiedDate` as issued.
  package var lastModified: Int64?
  /// One JSON object of the fields that the syncs name; a field that is not in it was not in the
  /// element.
  package var fields: [UInt8]

  /// Makes a record of its parts.
  package init(
    soup: String, id: String, modified: String?, lastModified: Int64? = nil, fields: [UInt8]
  ) {
    self.soup = soup
    self.id = id
    self.modified = modified
    self.lastModified = lastModified
    self.fields = fields
  }
}
