/// A sync up whose code is in the embedding program: one call for each locally changed record.
///
/// A program names it to `SyncManager` by the class that its configuration has in `androidImpl` and
/// `iOSImpl` (`CustomTargets`). A call that throws fails the whole sync; what only concerns its record
/// is answered.
public protocol CustomSyncUpTarget: Sendable {
  /// The fields that a create sends; nil for those of the configuration.
  var createFieldlist: [String]? { get }
  /// The fields that an update sends; nil for those of the configuration.
  var updateFieldlist: [String]? { get }

  /// Creates a record; `fields` is the JSON text of an object.
  func createOnServer(
    objectType: String, fields: String, org: SyncOrg
  ) async throws -> CustomSaveResult

  /// Changes a record; `fields` is the JSON text of an object.
  func updateOnServer(
    objectType: String, objectId: String, fields: String, org: SyncOrg
  ) async throws -> CustomSaveResult

  /// Deletes a record.
  func deleteOnServer(
    objectType: String, objectId: String, org: SyncOrg
  ) async throws -> CustomSaveResult

  /// Says when the org's record was last modified, for LEAVE_IF_CHANGED.
  func fetchLastModificationDate(
    objectType: String, objectId: String, org: SyncOrg
  ) async throws -> RecordModificationDate
}

extension CustomSyncUpTarget {
  /// The configuration's.
  public var createFieldlist: [String]? { nil }
  /// The configuration's.
  public var updateFieldlist: [String]? { nil }
}

/// What came of a record that a custom sync up sent.
public enum CustomSaveResult: Sendable, Hashable {
  /// It is done; a create names the new record's id.
  case saved(id: String?)
  /// The org has no such record.
  case notFound
  /// The org refused, in its code and words; the record stays changed.
  case refused(code: String, message: String)
}

/// When a record was last modified in the org.
public enum RecordModificationDate: Sendable, Hashable {
  /// At this time, as the org writes it.
  case modified(String)
  /// The record is deleted.
  case deleted
  /// It cannot be told.
  case unknown
}
