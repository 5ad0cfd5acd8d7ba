import JSON

/// The values of a record that a device was issued.
package struct MergeBase: Sendable, Hashable {
  /// The server's modification date in the element as issued.
  package var modificationDate: String?
  /// The element's `_soupLastModifiedDate` when it was issued, if known.
  package var lastModified: Int64?
  /// The values by member name.
  package var fields: JSONObject
  /// Whether a member that is not in `fields` is known to have been absent.
  package var isComplete: Bool

  package init(
    modificationDate: String?, lastModified: Int64? = nil, fields: JSONObject,
    isComplete: Bool = false
  ) {
    self.modificationDate = modificationDate
    self.lastModified = lastModified
    self.fields = fields
    self.isComplete = isComplete
  }
}
