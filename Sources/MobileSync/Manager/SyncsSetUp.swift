/// What became of each sync of a configuration.
public struct SyncsSetUp: Sendable, Hashable {
  /// The names of syncs that are new.
  public var created: [String] = []
  /// The names of syncs that were there, with this definition.
  public var kept: [String] = []
  /// The names of syncs that were there with another definition, and still have it.
  public var differing: [String] = []
  /// The names of syncs that had another definition; they start anew.
  public var replaced: [String] = []

  package init(
    created: [String] = [], kept: [String] = [], differing: [String] = [], replaced: [String] = []
  ) {
    self.created = created
    self.kept = kept
    self.differing = differing
    self.replaced = replaced
  }
}

/// What to do with a sync that has another definition than the configuration's.
public enum SyncReplacement: Sendable, Hashable {
  /// Leave it, as the SDK does.
  case none
  /// Give these the new definition; their next run fetches everything.
  case named(Set<String>)
  /// Give all the new definition; their next run fetches everything.
  case all

  func includes(_ name: String) -> Bool {
    switch self {
    case .none: false
    case .named(let names): names.contains(name)
    case .all: true
    }
  }
}
