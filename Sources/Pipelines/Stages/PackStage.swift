import Bundles
import Crypto
import JSON
import Ledger
import SmartStore
import Snapshots
import System

struct PackStage {
  let run: RunContext

  /// Writes the missing bundles, and moves `current`.
  ///
  /// A bundle is written if the generation has none, if the global stores or the included returns
  /// differ from those of the newest bundle, if less than half of its validity is left, or always
  /// if the pipeline says so. A user who was not primed since the global stores changed gets none.
  func perform() throws {
    var global = try newestRecord(of: SnapshotID.global)
    if let newest = global, try isWithoutStores(newest) { global = nil }
    for id in try run.data.snapshots() where id != SnapshotID.global {
      guard let record = try newestRecord(of: id) else { continue }
      let username = record.notes["username"]?.string ?? id
      guard run.options.serves(username) else { continue }
      try Task.checkCancellation()
      if try isWithoutStores(record) { continue }
      // The generation has records that its user may read differently.
      if try run.ledger.noted(.fromScratch)?.contains(id) == true { continue }
      guard isWhole(record, with: global) else {
        run.warn(
          "\(username): the newest generation lacks a store that was added to the pipeline; "
            + "no bundle of it is written before the user is primed again")
        continue
      }
      if run.options.isDryRun {
        try plan(record, with: global, username: username)
        continue
      }
      try run.ledger.note(carried: Self.carried(record))
      for platform in run.pipeline.platforms {
        try pack(record, with: global, platform, username: username)
      }
      try publishCurrent(record, of: id)
    }
    if run.options.isDryRun { return }
    if let global { try publishCurrent(global, of: SnapshotID.global) }
    try BundleIndex(
      data: run.data, pipeline: run.pipeline, variables: run.variables, signer: run.signer
    ).write()
  }

  /// Whether a generation has no stores and nothing can be packed until the next prime, because it
  /// came from a backup.
  private func isWithoutStores(_ record: GenerationRecord) throws -> Bool {
    let directory = run.data.generation(record.generation, of: record.snapshot)
    return try PrunedGeneration(directory: directory) != nil
  }

  /// The edits that a generation redelivers.
  ///
  /// The ledger records them before any device can have them.
  private static func carried(_ record: GenerationRecord) -> [CarriedRow] {
    record.carried.compactMap { entry in
      let store = record.entries(of: entry.platform).first { $0.storeName == entry.storeName }
      guard let store else { return nil }
      return CarriedRow(
        edit: entry.edit, source: entry.source, stampID: store.stampID,
        row: RowKey(
          store: StoreKey(scope: store.scope, storeName: store.storeName), soup: entry.soup,
          soupEntryID: entry.soupEntryID),
        mark: record.run, lastModified: entry.lastModified, value: entry.value,
        recordID: entry.recordID,
        shown: entry.shown, words: entry.words, edited: entry.edited)
    }
  }

  /// Whether a generation has every store of the pipeline on every platform.
  ///
  /// It may lack some if its user was not primed since the pipeline changed.
  private func isWhole(_ record: GenerationRecord, with global: GenerationRecord?) -> Bool {
    run.pipeline.stores.allSatisfy { store in
      let source = store.scope == .global ? global : record
      return run.pipeline.platforms.allSatisfy { platform in
        source?.entries(of: platform).contains { $0.storeName == store.storeName } == true
      }
    }
  }

  private func newestRecord(of id: String) throws -> GenerationRecord? {
    let directory = SnapshotDirectory(path: run.data.snapshot(id))
    guard let newest = try directory.generations().last else { return nil }
    return try directory.record(of: newest)
  }

  private func publishCurrent(_ record: GenerationRecord, of id: String) throws {
    let directory = SnapshotDirectory(path: run.data.snapshot(id))
    if try directory.current()?.digest == record.digest { return }
    try directory.setCurrent(
      CurrentGeneration(
        generation: record.generation, digest: record.digest, epoch: Int(try run.ledger.epoch),
        run: Int(run.row.number)))
  }

  /// Reports which bundles would be written for the existing generations.
  ///
  /// Generations that the run would prime have their own lines.
  private func plan(
    _ record: GenerationRecord, with global: GenerationRecord?, username: String
  ) throws {
    let wanted = try run.pipeline.platforms.filter {
      try wantedBundle(record, with: global, $0, username: username) != nil
    }
    if wanted.isEmpty { return }
    let names = wanted.map(\.rawValue).joined(separator: ", ")
    run.summary.plan.append("pack: generation \(record.generation) of \(username) (\(names))")
  }

  /// Returns the content of the bundle that a generation needs, and its existing bundles; nil if
  /// one of them has that content already.
  private func wantedBundle(
    _ record: GenerationRecord, with global: GenerationRecord?, _ platform: Platform,
    username: String
  ) throws -> (
    manifest: Manifest, existing: [BundleName], sealing: BundleSealing?
  )? {
    let directory = run.data.generation(record.generation, of: record.snapshot)
    let existing = try BundleName.list(in: directory, platform)
    let manifest = try manifest(record, global, platform, username: username)
    let sealing = try SealingKeys(run: run).sealing()
    let announced = sealing?.announcing(manifest) ?? manifest
    // The records are as old as the generation's last prime; a newer date would hide that.
    let primed = try run.ledger.noted(.primed(record.snapshot)) ?? record.created
    if !existing.isEmpty, let global, primed < global.created { return nil }
    if let newest = existing.last, run.pipeline.pack.when == .changed,
      newest.ending == run.pipeline.pack.format.rawValue
    {
      let packed = try BundleReader.inspect(directory + "/" + newest.text)
      if Self.isSame(packed, announced), !isRunningOut(packed, primed) { return nil }
    }
    return (manifest, existing, sealing)
  }

  private func pack(
    _ record: GenerationRecord, with global: GenerationRecord?, _ platform: Platform,
    username: String
  ) throws {
    guard
      let wanted = try wantedBundle(record, with: global, platform, username: username)
    else { return try signNewest(of: record, platform) }
    var manifest = wanted.manifest
    let existing = wanted.existing
    let directory = run.data.generation(record.generation, of: record.snapshot)
    if !existing.isEmpty { renew(&manifest) }
    let number = (existing.last?.number ?? 0) + 1
    let bundle = BundleName(platform, number: number, run.pipeline.pack.format)
    let path = directory + "/" + bundle.text
    var stores = directory + "/" + platform.rawValue
    var globalStores = global.map {
      run.data.generation($0.generation, of: SnapshotID.global) + "/" + platform.rawValue
    }
    // The plain generation stays, because the next one is built from it.
    let sealed = "\(directory)/\(DurableFile.temporaryPrefix)sealed-\(platform.rawValue)"
    if let sealing = wanted.sealing {
      try Files.remove(sealed)
      manifest = try sealing.seal(
        manifest, storeDirectory: stores, globalDirectory: globalStores, to: sealed)
      (stores, globalStores) = (sealed, nil)
    }
    defer { try? Files.remove(sealed) }
    // Written first, so that no reader finds a bundle without its signature. The name may be that of
    // a bundle that was signed before the ledger was lost.
    try Files.remove(SignatureFile.path(of: path))
    try run.signer?.sign(manifest.bytes, of: path)
    let deltas = BundleDeltas(
      run: run, snapshot: record.snapshot, bundle: bundle, manifest: manifest,
      sealing: wanted.sealing)
    try BundleWriter.pack(
      manifest, storeDirectory: stores, globalDirectory: globalStores, to: path,
      format: run.pipeline.pack.format,
      level: run.pipeline.pack.level, modified: manifest.created,
      beforeNaming: { try deltas.write(bundleBytes: $0) })
    run.summary.bundles.append(path)
    run.report(
      .bundleWritten(
        snapshot: record.snapshot, username: username, platform: platform.rawValue, path: path,
        bytes: Int(try Files.size(of: path))))
  }

  /// Signs the newest bundle of a generation and the deltas to it, if a signature is missing or has
  /// another key.
  private func signNewest(of record: GenerationRecord, _ platform: Platform) throws {
    let directory = run.data.generation(record.generation, of: record.snapshot)
    guard let signer = run.signer, let newest = try BundleName.list(in: directory, platform).last
    else { return }
    let path = directory + "/" + newest.text
    let manifest = try BundleReader.manifestBytes(path)
    if !signer.hasSigned(manifest, of: path) { try signer.sign(manifest, of: path) }
    for delta in try DeltaName.list(in: directory, to: newest) {
      let path = directory + "/" + delta.text
      let description = try DeltaReader.descriptionBytes(path)
      if !signer.hasSigned(description, of: path) { try signer.sign(description, of: path) }
    }
  }

  private func manifest(
    _ record: GenerationRecord, _ global: GenerationRecord?, _ platform: Platform,
    username: String
  ) throws -> Manifest {
    let entries = record.entries(of: platform) + (global?.entries(of: platform) ?? [])
    let created = max(record.created, global?.created ?? 0)
    // Leave out edits resolved since: the org has them, these stores do not.
    let includes = try [(record.snapshot, record), (SnapshotID.global, global)].flatMap {
      try included(in: $1, of: $0)
    }
    let isIntegration = run.pipeline.prime.fetchAs == .integration
    // What the generations lack, so that the app can tell its user.
    var warnings = [record, global].compactMap(\.self).flatMap {
      ($0.notes["warnings"]?.array ?? []).compactMap(\.string)
    }
    if isIntegration {
      warnings.append("the records are those that the integration user can see")
    }
    return Manifest(
      org: try run.ledger.organizationID ?? "", user: record.snapshot,
      usernameDigest: Digest.sha256Hex(Array(username.lowercased().utf8)),
      pipeline: run.pipeline.name, generation: record.generation, platform: platform,
      stampID: record.entries(of: platform).first?.stampID ?? "", configHash: record.configHash,
      stores: entries, syncStates: record.syncStates + (global?.syncStates ?? []),
      created: created, expires: run.pipeline.pack.expiry(from: created), includes: includes,
      fetchAs: isIntegration ? "integration" : nil,
      warnings: warnings)
  }

  /// The returns that a generation includes.
  ///
  /// Empty if a run was interrupted before it recorded them: the ledger then still describes the
  /// previous generation, which may have redelivered edits that this one lacks.
  private func included(
    in generation: GenerationRecord?, of id: String
  ) throws -> [Manifest.Include] {
    guard let row = try run.ledger.snapshotRow(id: id) else { return [] }
    if let generation, row.generation != Int64(generation.generation) { return [] }
    return row.included.map {
      Manifest.Include(stampID: $0.stampID, install: $0.install, handback: Int($0.handback))
    }
  }

  /// Whether less than half of a bundle's validity is left and this run has confirmed that its
  /// content is still current.
  private func isRunningOut(_ packed: Manifest, _ primed: Int64) -> Bool {
    guard let expires = packed.expires, primed == run.now else { return false }
    return expires - run.now < run.pipeline.pack.expiryMilliseconds / 2
  }

  /// A later bundle of the same generation is valid from now on.
  private func renew(_ manifest: inout Manifest) {
    manifest.created = run.now
    manifest.expires = run.pipeline.pack.expiry(from: run.now)
  }

  /// Whether two manifests describe the same content.
  private static func isSame(_ one: Manifest, _ other: Manifest) -> Bool {
    var (one, other) = (one, other)
    (one.created, one.expires) = (0, nil)
    (other.created, other.expires) = (0, nil)
    return withoutSealedBytes(one) == withoutSealedBytes(other)
  }

  /// Returns a manifest that identifies sealed stores, or a sealed archive, by their salts alone.
  ///
  /// The salts are derived from the passphrase and the plain stores' digests (`StoreSealing`,
  /// `ArchiveSealing`).
  private static func withoutSealedBytes(_ manifest: Manifest) -> Manifest {
    var manifest = manifest
    for index in manifest.stores.indices where manifest.stores[index].salt != nil {
      (manifest.stores[index].bytes, manifest.stores[index].sha256) = (0, "")
    }
    if let salt = manifest.seal?.archive?.salt {
      manifest.seal?.archive = SealedPart(bytes: 0, sha256: "", salt: salt)
    }
    return manifest
  }
}
