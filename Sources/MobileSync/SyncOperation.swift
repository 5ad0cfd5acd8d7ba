import JSON
import SmartStore

/// The local flags of an element.
public struct LocalState: Sendable, Hashable {
  /// The element differs from what the server is known to hold.
  public var isLocal: Bool
  /// The element was made on the device.
  public var isCreated: Bool
  /// The element was changed on the device.
  public var isUpdated: Bool
  /// The element was deleted on the device.
  public var isDeleted: Bool

  /// Flags one by one.
  public init(
    isLocal: Bool, isCreated: Bool = false, isUpdated: Bool = false, isDeleted: Bool = false
  ) {
    self.isLocal = isLocal
    self.isCreated = isCreated
    self.isUpdated = isUpdated
    self.isDeleted = isDeleted
  }

  /// Reads the flags of an element as the SDK of its store's platform does.
  ///
  /// An element without `__local__` is not dirty.
  package init(element: JSONValue, platform: Platform) {
    func flag(_ name: String) -> Bool { platform.isSet(element[name]) }
    self.init(
      isLocal: flag(LocalFields.local), isCreated: flag(LocalFields.created),
      isUpdated: flag(LocalFields.updated), isDeleted: flag(LocalFields.deleted))
  }
}

/// What a sync up has to do with an element.
public enum SyncOperation: String, Sendable, Hashable, CaseIterable {
  case create, update, delete
  /// The element is not dirty.
  case none
  /// Made and deleted on the device: it only leaves the store.
  case dropLocally

  /// Decides by the flags: deleted goes before created, anything else is an update.
  ///
  /// `__locally_updated__` is not looked at, as in the SDK's batch and collection targets.
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
