import Ledger
import MobileSync

/// A sync up of the pipeline, for the records of one soup of one store.
///
/// A parent-children sync up becomes two of them.
package struct ReconciledSync: Sendable {
  package let store: StoreKey
  /// The sync up as defined in its file.
  package let definition: SyncDefinition
  /// The object types that the soup's syncs name, in lower case; an edit that is sent as another
  /// user has one of them.
  package let types: Set<String>
  package let soup: SoupKey
  /// How the soup's records are read and sent.
  package let target: SyncUpTarget
  /// The target in its file, which determines the kind and size of requests.
  let carrier: SyncUpTarget
  /// The records' role in their family; nil if they have none.
  let place: Place?

  /// A role in a family.
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

  /// The members of a sync up; empty if the definition is not a sync up of this program.
  ///
  /// `types` returns the object types that a soup's syncs name.
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

  /// The family member that the records are; nil if they have no family.
  var member: FamilyMember? {
    switch place {
    case .parent(let targets): targets.family.parent
    case .child(let targets): targets.family.children
    case nil: nil
    }
  }

  /// The reference to the parent; nil if the records are not children of a family.
  var parentField: String? {
    if case .child(let targets)? = place { targets.key } else { nil }
  }

  var mode: MergeMode { definition.options.mergeMode }

  /// The names of the fields that an operation sends; empty if the file names none.
  package func sentFields(of operation: SyncOperation) -> Set<String> {
    Set((try? fields(for: operation)) ?? [])
  }

  /// The fields that an operation sends, including the reference to the parent if it is sent.
  func fields(for operation: SyncOperation) throws(SyncError) -> [String] {
    let fields = try FieldSelection.fields(
      for: operation, target: target, options: definition.options)
    guard case .child(let targets)? = place else { return fields }
    let isNamed = operation == .create || (operation == .update && targets.sendsKey)
    return isNamed ? fields + [targets.key] : fields
  }
}
