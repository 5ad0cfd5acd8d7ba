import SmartStore

/// The members that Mobile Sync keeps in every element beside the record's own.
package enum LocalFields {
  /// True while the element differs from what the server is known to hold.
  package static let local = SyncField.local
  /// True for an element made on the device.
  package static let created = SyncField.locallyCreated
  /// True for an element changed on the device.
  package static let updated = SyncField.locallyUpdated
  /// True for an element deleted on the device.
  package static let deleted = SyncField.locallyDeleted
  /// The id of the sync that brought the record.
  package static let syncID = SyncField.syncID
  /// What the server answered when the last attempt to send the element failed.
  package static let lastError = SyncField.lastError
  /// What an app says that it has shown its user of `lastError`.
  package static let lastErrorShown = SyncField.lastErrorShown
  /// How the id of a record that the server does not know begins.
  package static let localIDPrefix = "local_"
  /// The path of the sObject type in an element.
  package static let objectType = "attributes.type"

  /// True for the name of a member that the SDK or we keep, which no field of an org bears.
  package static func isOwn(_ name: String) -> Bool { name.hasPrefix("_") }

  /// True for an id that a device made up.
  package static func isLocalID(_ id: String) -> Bool { id.hasPrefix(localIDPrefix) }
}
