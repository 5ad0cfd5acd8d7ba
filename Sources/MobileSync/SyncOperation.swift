import JSON
import SmartStore

/// The local flags of an element.
public struct LocalState: Sendable, Hashable {
  /// Whether the element differs from the last known state of the org's record.
  public var isLocal: Bool
  /// Whether the element was created on the device.
  public var isCreated: Bool
  /// Whether the element was changed on the device.
  public var isUpdated: Bool
  /// Whether the element was deleted on the device.
  public var isDeleted: Bool

  /// Creates a state from its flags.
  public init(
    isLocal: Bool, isCreated: Bool = false, isUpdated: Bool = false, isDeleted: Bool = false
  ) {
    self.isLocal = isLocal
    self.isCreated = isCreated
    self.isUpdated = isUpdated
    self.isDeleted = isDeleted
  }

  /// Reads the flags of an element like the SDK of its store's platform.
  ///
  /// An element without `__local__` is not dirty.
  package init(element: JSONValue, platform: Platform) {
    func flag(_ name: String) -> Bool { platform.isSet(element[name]) }
    self.init(
      isLocal: flag(LocalFields.local), isCreated: flag(LocalFields.created),
      isUpdated: flag(LocalFields.updated), isDeleted: flag(LocalFields.deleted))
  }
}

/// The request that a sync up sends for an element.
public enum SyncOperation: String, Sendable, Hashable, CaseIterable {
  case create, update, delete
  /// The element is not dirty.
  case none
  /// The element was created and deleted on the device, so it is only removed from the store.
  case dropLocally

  /// Derives the operation from the flags: deleted comes before created, and anything else is an
  /// update.
  ///
  /// `__locally_updated__` is ignored, as in the SDK's batch and collection targets.
  public init(_ state: LocalState) {
    switch (state.isLocal, state.isDeleted, state.isCreated) {
    case (false, _, _): self = .none
    case (true, true, true): self = .dropLocally
    case (true, true, false): self = .delete
    case (true, false, true): self = .create
    case (true, false, false): self = .update
    }
  }
}
