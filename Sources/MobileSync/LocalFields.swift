import SmartStore

/// The members that Mobile Sync adds to every element next to the record's fields.
package enum LocalFields {
  /// True while the element differs from the last known state of the org's record.
  package static let local = SyncField.local
  /// True for an element that was created on the device.
  package static let created = SyncField.locallyCreated
  /// True for an element changed on the device.
  package static let updated = SyncField.locallyUpdated
  /// True for an element deleted on the device.
  package static let deleted = SyncField.locallyDeleted
  /// The ID of the sync that fetched the record.
  package static let syncID = SyncField.syncID
  /// The org's response to the last failed attempt to send the element.
  package static let lastError = SyncField.lastError
  /// The copy of `lastError` that an app writes once it has shown the error to its user.
  package static let lastErrorShown = SyncField.lastErrorShown
  /// The prefix of the ID of a record that the org does not know.
  package static let localIDPrefix = "local_"
  /// The path of the sObject type in an element.
  package static let objectType = "attributes.type"

  /// Whether the SDK or attache reserves the member's name; no field of an org has such a name.
  package static func isOwn(_ name: String) -> Bool { name.hasPrefix("_") }

  /// Whether a device generated the ID.
  package static func isLocalID(_ id: String) -> Bool { id.hasPrefix(localIDPrefix) }
}
