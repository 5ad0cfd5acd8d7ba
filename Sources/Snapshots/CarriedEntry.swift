import JSON
import SmartStore

/// A row in which a generation carries an edit that is open, as `generation.json` lists it.
package struct CarriedEntry: Sendable, Hashable {
  /// The layout.
  package var platform: Platform
  /// The store's name in the pipeline file.
  package var storeName: String
  /// The soup.
  package var soup: String
  /// The row.
  package var soupEntryID: Int64
  /// The edit's number in the ledger.
  package var edit: Int64
  /// The digest of the edit's element as it came.
  package var source: String
  /// The digest of what is carried of it.
  package var digest: String
  /// The row's `lastModified`.
  package var lastModified: Int64
  /// The digest of what the row holds.
  package var value: String
  /// The record's Id in the row; nil where that is the device's own.
  package var recordID: String?
  /// The org's values that the row's words show; nil where they show none.
  package var shown: JSONObject?
  /// The row's words: why the edit is open.
  package var words: String?
  /// The fields that the device had edited.
  package var edited: [String]?

  /// Makes an entry of its parts.
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

  /// The entry's member of `carried`.
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

  /// Reads a member of `carried`.
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
