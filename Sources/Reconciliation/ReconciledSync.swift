import Ledger
import MobileSync

/// A sync up of the pipeline, for the records of one soup of one store.
///
/// A sync up of parents with their children is two of them.
package struct ReconciledSync: Sendable {
  /// The store.
  package let store: StoreKey
  /// The sync up as its file has it.
  package let definition: SyncDefinition
  /// The object types that the syncs of the soup name, in lower case: what is sent by somebody else
  /// than an edit's user is of one of them.
  package let types: Set<String>
  /// The soup.
  package let soup: SoupKey
  /// How the soup's records are read and sent.
  let target: SyncUpTarget
  /// The target as its file has it: the kind and the size of requests.
  let carrier: SyncUpTarget
  /// What the records are in their family; nil for those without one.
  let place: Place?

  /// A place in a family.
  enum Place: Sendable {
    case parent(ParentChildrenUpTargets)
    case child(ParentChildrenUpTargets)

    var targets: ParentChildrenUpTargets {
      switch self {
      case .parent(let targets), .child(let targets): targets
      }
    }
  }

  private init(
    _ store: StoreKey, _ definition: SyncDefinition, _ types: Set<String>, _ soupName: String,
    _ target: SyncUpTarget, _ carrier: SyncUpTarget, _ place: Place?
  ) {
    self.store = store
    self.definition = definition
    self.types = types
    soup = SoupKey(store: store, soup: soupName)
    self.target = target
    self.carrier = carrier
    self.place = place
  }

  /// The members of a sync up; none for a definition that is no sync up of this program.
  ///
  /// `types` says which object types the syncs of a soup name.
  package static func all(
    of definition: SyncDefinition, in store: StoreKey, types: (_ soup: String) -> Set<String>
  ) throws(SyncError) -> [ReconciledSync] {
    guard definition.syncType == .syncUp, let target = definition.target.of(SyncUpTarget.self)
    else { return [] }
    guard target.kind == .parentChildren else {
      let soup = definition.soupName
      return [ReconciledSync(store, definition, types(soup), soup, target, target, nil)]
    }
    let targets = try ParentChildrenUpTargets(target)
    let (parent, child) = (targets.family.parent.soupName, targets.family.children.soupName)
    return [
      ReconciledSync(
        store, definition, types(parent), parent, targets.parents, target, .parent(targets)),
      ReconciledSync(
        store, definition, types(child), child, targets.children, target, .child(targets)),
    ]
  }

  /// What the family says of the records; nil for records without one.
  var member: FamilyMember? {
    switch place {
    case .parent(let targets): targets.family.parent
    case .child(let targets): targets.family.children
    case nil: nil
    }
  }

  /// The field in which the records name their parent; nil for what is no child of a family.
  var parentField: String? {
    if case .child(let targets)? = place { targets.key } else { nil }
  }

  var mode: MergeMode { definition.options.mergeMode }

  /// The names of the fields that an operation sends; none where the file names none.
  package func sentFields(of operation: SyncOperation) -> Set<String> {
    Set((try? fields(for: operation)) ?? [])
  }

  /// The fields that an operation sends, with the one that names the parent where it is sent.
  func fields(for operation: SyncOperation) throws(SyncError) -> [String] {
    let fields = try FieldSelection.fields(
      for: operation, target: target, options: definition.options)
    guard case .child(let targets)? = place else { return fields }
    let isNamed = operation == .create || (operation == .update && targets.sendsKey)
    return isNamed ? fields + [targets.key] : fields
  }
}
