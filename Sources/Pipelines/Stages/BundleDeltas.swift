import Bundles
import Ledger
import SmartStore
import Snapshots
import System

/// Makes the deltas to a new bundle, from the bundles that devices may have.
///
/// They are made before the bundle has its name, so that no reader finds it without them. Each is
/// from the newest bundle of one of the generations before, or from the bundle before of the same
/// generation, which had other global stores. A generation that was pruned has no stores, and so no
/// delta.
struct BundleDeltas {
  let run: RunContext
  /// The snapshot of the user.
  let snapshot: String
  let bundle: BundleName
  let manifest: Manifest
  let sealing: BundleSealing?

  /// Writes the deltas that are worth it for a bundle of the given size.
  func write(bundleBytes: Int64) throws {
    try removeRemains()
    guard let deltas = run.pipeline.pack.deltas else { return }
    let limit = Int64(deltas.atMost.of(Int(bundleBytes)))
    for (source, name) in try sources(deltas.from) {
      do {
        // What differs too much from this generation differs even more from those before.
        if case .large? = try write(from: source, as: name, limit: limit) { return }
      } catch let error as BundleError where error.isDamage {
        run.warn("no delta from generation \(name.from) is written: \(error)")
      }
    }
  }

  /// Writes the delta from a bundle; nil if its devices have these stores, or attache no longer has
  /// them.
  private func write(
    from source: String, as name: DeltaName, limit: Int64
  ) throws -> DeltaWriter.Outcome? {
    let old = try BundleReader.inspect(source)
    guard old.stores.map(\.stampID) != manifest.stores.map(\.stampID), hasStores(old) else {
      return nil
    }
    let path = directory(of: manifest.generation) + "/" + name.text
    return try DeltaWriter.write(
      from: side(old), to: side(manifest), as: path, limit: limit, modified: manifest.created,
      seal: sealing?.deltaStores, sealArchive: sealing?.deltaArchive,
      sign: { try run.signer?.sign($0, of: path) })
  }

  /// Removes the deltas of an interrupted run, or from before the ledger was lost, with their
  /// signatures: they may lead to another bundle of this name.
  private func removeRemains() throws {
    let directory = directory(of: manifest.generation)
    for delta in try DeltaName.list(in: directory, to: bundle) {
      let path = directory + "/" + delta.text
      try Files.remove(path)
      try Files.remove(SignatureFile.path(of: path))
    }
  }

  /// The bundles of this and the given number of earlier generations that devices may have, newest
  /// first, with the names of the deltas from them.
  private func sources(_ earlier: Int) throws -> [(path: String, name: DeltaName)] {
    let generations = try run.data.generations(of: snapshot).filter { $0 < manifest.generation }
    let numbers = [manifest.generation] + generations.suffix(earlier).reversed()
    return try numbers.compactMap { generation in
      let directory = directory(of: generation)
      let newest = try BundleName.list(in: directory, bundle.platform).last {
        generation < manifest.generation || $0.number < bundle.number
      }
      guard let newest else { return nil }
      return (
        directory + "/" + newest.text,
        DeltaName(from: generation, to: bundle, of: manifest.generation)
      )
    }
  }

  private func directory(of generation: Int) -> String {
    run.data.generation(generation, of: snapshot)
  }

  private func side(_ manifest: Manifest) -> DeltaWriter.Side {
    let (data, snapshot) = (run.data, snapshot)
    return DeltaWriter.Side(manifest) { store in
      let owner = store.scope == .global ? SnapshotID.global : snapshot
      return data.generation(store.generation, of: owner) + "/" + manifest.platform.rawValue + "/"
        + store.path
    }
  }

  private func hasStores(_ manifest: Manifest) -> Bool {
    let side = side(manifest)
    return manifest.stores.allSatisfy { Files.exists(side.file($0)) }
  }
}
