/// The members that Mobile Sync adds to an element.
package enum SyncField {
  /// True while the element has local changes.
  package static let local = "__local__"
  /// True for an element that was created on the device.
  package static let locallyCreated = "__locally_created__"
  /// True for an element that was changed on the device.
  package static let locallyUpdated = "__locally_updated__"
  /// True for an element that was deleted on the device.
  package static let locallyDeleted = "__locally_deleted__"
  /// The ID of the sync that fetched the element.
  package static let syncID = "__sync_id__"
  /// The server's error when the element was last sent.
  package static let lastError = "__last_error__"
  /// The text of `lastError` that an app has shown to its user.
  package static let lastErrorShown = "__last_error_shown__"

  /// The members that are removed from a downloaded record before those of Mobile Sync are added.
  static let replaced = [
    local, locallyCreated, locallyUpdated, locallyDeleted, syncID, lastError,
    StoreField.soupEntryID, StoreField.lastModified,
  ]
}
