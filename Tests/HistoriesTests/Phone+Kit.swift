import Bundles
import JSON
import SmartStore
import Snapshots
import System
import TestSupport

/// A phone whose app is built on a kit of `clients/`.
extension Phone {
  /// The kit of the app, in the directory that the paths of a bundle are relative to.
  ///
  /// Android's is the Java kit where it is compiled.
  private func makeKit(_ root: String, org: String, user: String) throws -> any PhoneKit {
    let key = try HistoryPipeline.signing.get().publicKey.line
    let owner = KitOwner(org: org, user: user, isAndroid: setup.isAndroid, key: key)
    return setup.isAndroid && JavaKit.classPath != nil
      ? try JavaKit(root: root, owner) : try SwiftKit(root: root, owner)
  }

  /// The app's kit, which it opens when it gets its first bundle.
  func openKit(for manifest: Manifest) throws -> any PhoneKit {
    if let kit { return kit }
    (state.root, state.org, state.user) = (nextPath(), manifest.org, manifest.user)
    try openKit(on: state.root)
    guard let kit else { throw Violation("phone \(number) has no kit") }
    return kit
  }

  /// Copies everything that the app has.
  func copyApp(to root: String) throws { try Strike.copyTree(state.root, to: root) }

  /// Opens the kit on a copy of everything that the app had.
  func openKit(on root: String) throws {
    kit = try makeKit(root, org: state.org, user: state.user)
  }

  /// Does what the kit decides about the newest bundle; `gone` has the rows lost with the old
  /// store.
  func sync(
    _ bundle: String, delta: String?, node: Int, installation: Int, now: Int64,
    read: (_ element: JSONObject, _ soup: Soup) throws -> PhoneRow
  ) throws -> (outcome: KitOutcome, gone: [RowID: PhoneRow]) {
    let manifest = try BundleReader.inspect(bundle)
    guard let store = manifest.stores.first(where: { $0.scope == .user }) else {
      throw Violation("a bundle has no store of its user")
    }
    let kit = try openKit(for: manifest)
    if isInstalled { try judgeKit() }
    let gone = state.rows
    let outcome = try kit.sync(bundle: bundle, delta: delta, now: now)
    guard outcome.isInstalled else { return (outcome, [:]) }
    let (root, org, user) = (state.root, state.org, state.user)
    try begin(
      manifest, path: root + "/" + store.path, node: node, installation: installation, read: read)
    (state.root, state.org, state.user) = (root, org, user)
    let stamp = try stamp()
    (state.stampID, state.install) = (stamp.stampID, stamp.install)
    guard Int(stamp.generation) == state.generation, stamp.handback == 0 else {
      throw Violation("phone \(number) has generation \(stamp.generation) after \(outcome)")
    }
    if outcome == .delta { try compare(with: bundle, store.path) }
    return (outcome, gone)
  }

  /// What the user has changed, the kit has noticed.
  private func judgeKit() throws {
    if hasNews, try kit?.hasChanges() == false {
      throw Violation("the kit of phone \(number) does not see what its user has changed")
    }
  }

  /// After a delta, a store has the elements of the bundle.
  private func compare(with bundle: String, _ path: String) throws {
    let place = nextPath()
    _ = try BundleReader.extract(bundle, to: place)
    for soup in Soup.all {
      let wanted = try elements(soup.name, in: place + "/" + path)
      guard try elements(soup.name) == wanted else {
        throw Violation("a delta made other \(soup.name) on phone \(number) than its bundle has")
      }
    }
    try Files.remove(place)
  }

  /// Returns the store through the kit; after every fourth return, the app ends before it is noted
  /// as delivered.
  func returnApp(to path: String, now: Int64) throws {
    try judgeKit()
    returns += 1
    try kit?.returnStore(
      as: nextPath() + ".zip", now: now, isDelivered: !returns.isMultiple(of: 4)
    ) { try Files.copy($0, to: path) }
    state.handback = try stamp().handback ?? 0
    state.returned = state.rows
  }

  private func stamp() throws -> Provenance {
    let store = try Store(opening: state.path, readOnly: true)
    defer { try? store.close() }
    guard case .stamp(let stamp) = try Provenance.read(from: store) else {
      throw Violation("the store of phone \(number) has no stamp")
    }
    return stamp
  }
}
