/// The members that Mobile Sync keeps in every element beside the record's own.
package enum LocalFields {
  /// True while the element differs from what the server is known to hold.
  package static let local = "__local__"
  /// True for an element made on the device.
  package static let created = "__locally_created__"
  /// True for an element changed on the device.
  package static let updated = "__locally_updated__"
  /// True for an element deleted on the device.
  package static let deleted = "__locally_deleted__"
  /// The id of the sync that brought the record.
  package static let syncID = "__sync_id__"
  /// What the server answered when the last attempt to send the element failed.
  package static let lastError = "__last_error__"
  /// How the id of a record that the server does not know begins.
  package static let localIDPrefix = "local_"
  /// The path of the sObject type in an element.
  package static let objectType = "attributes.type"

  /// True for an id that a device made up.
  package static func isLocalID(_ id: String) -> Bool { id.hasPrefix(localIDPrefix) }
}
