import JSON
import SmartStore

/// A row in which a generation redelivers an open edit, as listed in `generation.json`.
package struct CarriedEntry: Sendable, Hashable {
  /// The platform of the store.
  package var platform: Platform
  /// The store's name in the pipeline file.
  package var storeName: String
  package var soup: String
  /// The row's ID.
  package var soupEntryID: Int64
  /// The edit's number in the ledger.
  package var edit: Int64
  /// The digest of the edit's element, as returned.
  package var source: String
  /// The digest of the redelivered part of the edit.
  package var digest: String
  /// The row's `lastModified`.
  package var lastModified: Int64
  /// The digest of the row's content.
  package var value: String
  /// The record ID in the row; nil if it is the device's own.
  package var recordID: String?
  /// The org's values in the row's message; nil if it shows none.
  package var shown: JSONObject?
  /// The row's message: the reason the edit is open.
  package var words: String?
  /// The fields that the device had edited.
  package var edited: [String]?

  package init(
    platform: Platform, storeName: String, soup: String, soupEntryID: Int64, edit: Int64,
    source: String, digest: String, lastModified: Int64, value: String, recordID: String? = nil,
    shown: JSONObject? = nil, words: String? = nil, edited: [String]? = nil
  ) {
    (self.words, self.edited) = (words, edited)
    self.platform = platform
    self.storeName = storeName
    self.soup = soup
    self.soupEntryID = soupEntryID
    self.edit = edit
    self.source = source
    self.digest = digest
    self.lastModified = lastModified
    self.value = value
    self.recordID = recordID
    self.shown = shown
  }

  /// The entry as a member of `carried`.
  var json: JSONValue {
    var object: JSONObject = [
      "platform": .string(platform.rawValue), "storeName": .string(storeName),
      "soup": .string(soup), "soupEntryId": JSONValue(soupEntryID), "edit": JSONValue(edit),
      "source": .string(source), "digest": .string(digest),
      "lastModified": JSONValue(lastModified), "value": .string(value),
    ]
    object["recordId"] = recordID.map(JSONValue.string)
    object["shown"] = shown.map(JSONValue.object)
    object["words"] = words.map(JSONValue.string)
    object["edited"] = edited.map { JSONValue($0) }
    return .object(object)
  }

  /// Parses a member of `carried`.
  init(_ reader: MemberReader) throws(SnapshotError) {
    platform = try reader.platform()
    storeName = try reader.text("storeName")
    soup = try reader.text("soup")
    soupEntryID = Int64(try reader.integer("soupEntryId"))
    edit = Int64(try reader.integer("edit"))
    source = try reader.text("source")
    digest = try reader.text("digest")
    lastModified = Int64(try reader.integer("lastModified"))
    value = try reader.text("value")
    recordID = try reader.optionalText("recordId")
    shown = reader.json["shown"]?.object
    words = reader.json["words"]?.string
    edited = reader.json["edited"]?.array?.compactMap(\.string)
  }
}
