/// A sync up implemented in the embedding program, called once for each locally changed record.
///
/// A program registers it with `SyncManager` under the class named in the configuration's
/// `androidImpl` and `iOSImpl` (`CustomTargets`). A call that throws fails the whole sync; an error
/// that concerns only its record is returned.
public protocol CustomSyncUpTarget: Sendable {
  /// The fields that a create sends; nil uses the configuration's.
  var createFieldlist: [String]? { get }
  /// The fields that an update sends; nil uses the configuration's.
  var updateFieldlist: [String]? { get }

  /// Creates a record; `fields` is the JSON text of an object.
  func createOnServer(
    objectType: String, fields: String, org: SyncOrg
  ) async throws -> CustomSaveResult

  /// Updates a record; `fields` is the JSON text of an object.
  func updateOnServer(
    objectType: String, objectId: String, fields: String, org: SyncOrg
  ) async throws -> CustomSaveResult

  /// Deletes a record.
  func deleteOnServer(
    objectType: String, objectId: String, org: SyncOrg
  ) async throws -> CustomSaveResult

  /// Returns when the org's record was last modified, for LEAVE_IF_CHANGED.
  func fetchLastModificationDate(
    objectType: String, objectId: String, org: SyncOrg
  ) async throws -> RecordModificationDate
}

extension CustomSyncUpTarget {
  /// Nil: the configuration's fields.
  public var createFieldlist: [String]? { nil }
  /// Nil: the configuration's fields.
  public var updateFieldlist: [String]? { nil }
}

/// The outcome of a record that a custom sync up sent.
public enum CustomSaveResult: Sendable, Hashable {
  /// The org saved the record; a create has the new record's ID.
  case saved(id: String?)
  /// The org has no such record.
  case notFound
  /// The org refused the record, with its code and message; the record stays dirty.
  case refused(code: String, message: String)
}

/// When a record was last modified in the org.
public enum RecordModificationDate: Sendable, Hashable {
  /// The record was modified at this time, in the org's format.
  case modified(String)
  /// The record is deleted.
  case deleted
  /// The date is unknown.
  case unknown
}
