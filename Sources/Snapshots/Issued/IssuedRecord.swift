/// A record as a generation issued it to its devices, stored for the comparison with returns.
package struct IssuedRecord: Sendable, Hashable {
  /// The soup, as named by `PrimeInput.key`.
  package var soup: String
  /// The record's 18-character ID.
  package var id: String
  /// The server's modification date, as in the element.
  package var modified: String?
  /// The element's `_soupLastModifiedDate`, as issued.
  package var lastModified: Int64?
  /// A JSON object with the fields of the syncs.
  ///
  /// A field that is missing here was missing in the element.
  package var fields: [UInt8]

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
