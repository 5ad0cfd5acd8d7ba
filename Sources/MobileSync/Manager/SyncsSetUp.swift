/// The outcome of setting up each sync of a configuration.
public struct SyncsSetUp: Sendable, Hashable {
  /// The names of syncs that were created.
  public var created: [String] = []
  /// The names of syncs that already existed with this definition.
  public var kept: [String] = []
  /// The names of syncs that exist with another definition, which they keep.
  public var differing: [String] = []
  /// The names of syncs whose definition was replaced; their next run fetches everything.
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

/// What to do with a sync whose stored definition differs from the configuration's.
public enum SyncReplacement: Sendable, Hashable {
  /// Keep the stored definition, as the SDK does.
  case none
  /// Replace the definition of these syncs; their next run fetches everything.
  case named(Set<String>)
  /// Replace the definition of every such sync; its next run fetches everything.
  case all

  func includes(_ name: String) -> Bool {
    switch self {
    case .none: false
    case .named(let names): names.contains(name)
    case .all: true
    }
  }
}
