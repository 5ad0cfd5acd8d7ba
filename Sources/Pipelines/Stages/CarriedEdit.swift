import Crypto
import JSON
import Ledger
import MobileSync
import Reports

/// An open edit as the next generation redelivers it: a row that is still dirty.
package struct CarriedEdit: Sendable {
  package var edit: Int64
  /// The digest of its element as returned.
  package var source: String
  package var platform: String
  package var soup: SoupKey
  /// The element's member that identifies its record.
  package var idField: String
  /// The record's ID in the org; nil if the org does not have the record.
  package var recordID: String?
  /// The `lastModified` of the row on its device.
  package var lastModified: Int64
  /// The fields that its device edited; for a new record, all of its fields.
  package var edited: [String]
  /// The element as the device left it, with the flags of an open edit; the store's own members are
  /// ignored.
  let element: JSONObject
  /// The member with the modification date of the org's record.
  let dateField: String
  /// The reason why it is open.
  let words: CarriedWords

  /// A row as issued to a device.
  package struct Row: Sendable {
    package var element: JSONObject
    /// The message in the element that says why the edit is open.
    package var words: String
    /// The org's values that the message shows, by field; nil if it shows none.
    package var shown: JSONObject?
  }

  /// The row for a user whose store has `held` for the record; nil if it has no such record.
  ///
  /// A device gets what its user may see now: the record as the store has it, with the edited
  /// fields on top. For a record that is no longer there, it gets the ID and the edited fields. The
  /// modification date is the edit's own, so that a later change of the row is compared with what
  /// its device had read.
  package func row(over held: JSONObject?) -> Row {
    var row = element
    if recordID != nil {
      let own = Set(edited + [idField, dateField, "attributes"])
      for (name, _) in element where !own.contains(name) {
        // The row of a record that no longer exists keeps only the SDK's flags.
        let stays = held == nil ? name.hasPrefix("__") : LocalFields.isOwn(name)
        if !stays { row[name] = nil }
      }
      for (name, value) in held ?? [:] where row[name] == nil && !LocalFields.isOwn(name) {
        if name != dateField { row[name] = value }
      }
    }
    let sentence = words.sentence(over: held)
    row[LocalFields.lastError] = .string(sentence)
    return Row(element: row, words: sentence, shown: words.shown(over: held))
  }

  /// Identifies what is redelivered; it changes with the content.
  ///
  /// A change of the record in the user's store causes a new generation anyway.
  package var digest: String {
    let value = JSONValue.array([
      .object(element), JSONValue(lastModified), .string(soup.soup), JSONValue(edited),
      .string(words.sentence(over: words.reported)),
    ])
    return Digest.sha256Hex(value.bytes(pretty: false, sortedKeys: true))
  }
}
