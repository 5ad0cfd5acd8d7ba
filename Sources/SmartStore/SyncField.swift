/// The members that Mobile Sync keeps in an element for itself.
package enum SyncField {
  /// True while the element has changes that the server does not know.
  package static let local = "__local__"
  /// True for an element that was made on the device.
  package static let locallyCreated = "__locally_created__"
  /// True for an element that was changed on the device.
  package static let locallyUpdated = "__locally_updated__"
  /// True for an element that was deleted on the device.
  package static let locallyDeleted = "__locally_deleted__"
  /// The id of the sync that fetched the element.
  package static let syncID = "__sync_id__"
  /// What the server said when the element was last sent.
  package static let lastError = "__last_error__"
  /// What an app has shown its user of `lastError`: the same text, where the user has seen it.
  package static let lastErrorShown = "__last_error_shown__"

  /// Every member that a downloaded record loses, should it have one, before ours are added.
  static let replaced = [
    local, locallyCreated, locallyUpdated, locallyDeleted, syncID, lastError,
    StoreField.soupEntryID, StoreField.lastModified,
  ]
}
