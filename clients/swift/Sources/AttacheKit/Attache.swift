import Foundation

/// The stores of one user in an app: installs bundles, applies deltas, and prepares returns.
///
/// Call every function while the SDK has the stores closed, except `prepareReturn`, `decide`,
/// `hasChanges` and `reasons`, which open the stores separately. Calls that write wait for each
/// other, also in another process.
public final class Attache {
  /// The user whose stores they are.
  public let owner: Owner
  private let root: URL
  private let trust: Trust?
  private let passphrase: String?
  private let open: (URL, StoreForm) throws -> any Database
  private let encrypt: ((URL, URL) throws -> Void)?
  private let files = FileManager.default
  /// Called with the name of each step of an installation; tests stop it there.
  var step: (String) throws -> Void = { _ in }

  /// - Parameters:
  ///   - root: The directory that the paths of a bundle are relative to: on iOS
  ///     `Documents/<bundle id>`, on Android the app's data directory.
  ///   - trust: The keys that sign the bundles; nil if the pipeline does not sign.
  ///   - passphrase: The passphrase of sealed bundles.
  ///   - open: Opens a store with the key that it needs.
  ///   - encrypt: Writes an encrypted copy of the first file as the second, if the SDK does not
  ///     encrypt a store by itself.
  public init(
    root: URL, owner: Owner, trust: Trust?, passphrase: String? = nil,
    open: @escaping (_ file: URL, _ form: StoreForm) throws -> any Database = { file, _ in
      try SQLiteDatabase(file)
    }, encrypt: ((_ store: URL, _ copy: URL) throws -> Void)? = nil
  ) {
    (self.root, self.owner, self.trust) = (root, owner, trust)
    (self.passphrase, self.encrypt, self.open) = (passphrase, encrypt, open)
  }

  /// Verifies a bundle, or a delta for the installed stores.
  ///
  /// `signature` is the file with `.sig` after the name unless it is given.
  public func verify(_ file: URL, signature: URL? = nil) throws -> Offer {
    try resume()
    let offer = try Offer(
      file, signature: signature ?? URL(fileURLWithPath: file.path + ".sig"), trust: trust,
      owner: owner, passphrase: passphrase)
    if offer.isDelta, try alone({ try installed(at: []) })?.stamps != offer.offered.from {
      throw Refusal(.delta, "the delta is for other stores than the installed ones")
    }
    return offer
  }

  /// The generation of the installed bundle, which names the delta that a server may have.
  public var generation: Int? { (try? installed(at: []))?.generation }

  /// Decides what to do next; `offers` are a newer bundle and a delta to it, or nothing.
  public func decide(_ offers: [Offer] = [], now: Date = Date()) throws -> Decision {
    try alone {
      try resume()
      let paths = offers.flatMap { $0.parts.map(\.path) }
      return Decision(try installed(at: paths), offers.map(\.offered), now: now)
    }
  }

  /// Whether the user has changed anything since the last return, or since the installation.
  public func hasChanges() throws -> Bool { try installed(at: [])?.changed ?? false }

  /// An open edit that a bundle brought back.
  public struct Reason: Equatable, Sendable {
    /// The path of the store.
    public let store: String
    /// The name of the soup.
    public let soup: String
    /// The element's `_soupEntryId`.
    public let entryId: Int
    /// The record's ID; a local one if the device created it.
    public let recordId: String?
    /// `__last_error__`: show it to the user.
    public let sentence: String
    /// Whether the app has recorded in `__last_error_shown__` that it showed this sentence.
    public let isShown: Bool
  }

  /// The reasons for which edits were not sent, of rows that still have local changes.
  public func reasons() throws -> [Reason] { try stores([]).flatMap { try $0.reasons() } }

  // MARK: installing

  /// Installs a bundle, or applies a delta, if the decision about it allows that.
  ///
  /// `closing` closes the stores in the SDK, once everything is ready to be put in place; it must
  /// not wait for another call of the kit. If the user changes something until then, nothing is
  /// installed. After an interruption, the stores are the former ones, or `resume` completes the
  /// installation.
  public func install(
    _ offer: Offer, now: Date = Date(), closing: () throws -> Void = {}
  ) throws {
    try alone {
      try resume()
      let paths = offer.parts.map(\.path)
      let former = try seen(paths)
      let decision = try decide([offer], now: now)
      guard decision.offer != nil else {
        throw Refusal(.notAllowed, "the decision is \"\(decision.action.rawValue)\"")
      }
      try prepare(offer, UUID().uuidString.lowercased(), former)
      do {
        try requireUnchanged(paths, former)
        if !offer.isDelta { try closing() }
      } catch {
        try abandon()
        throw error
      }
      try complete()
    }
  }

  /// Completes an interrupted installation, unless the user has changed something since.
  ///
  /// Call it at the app's start, before the SDK opens a store.
  public func resume() throws {
    try alone {
      do { try complete() } catch let refusal as Refusal where refusal.code == .notAllowed {}
    }
  }

  /// Puts everything in place that is ready.
  private func complete() throws {
    try remove(home("staging"))
    guard let plan: Plan = read("ready/plan.json") else { return try remove(home("ready")) }
    var state = plan.state
    let manifest = try JSON.decoder().decode(
      Manifest.self, from: Data(contentsOf: home("ready/manifest.json")))
    if try !isBegun(manifest, plan) {
      do { try requireUnchanged(manifest.stores.map(\.path), plan.former) } catch {
        try abandon()
        throw error
      }
    }
    if plan.isDelta {
      do { state.seen = try applyDeltas(manifest, plan) } catch {
        try abandon()
        throw error
      }
    } else {
      for (index, store) in manifest.stores.enumerated() {
        let (file, target) = (home("ready/\(index)"), place(store.path))
        guard files.fileExists(atPath: file.path) else { continue }
        try files.createDirectory(
          at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        for ending in ["-wal", "-shm", "-journal"] {
          try remove(URL(fileURLWithPath: target.path + ending))
        }
        try step("rename \(index)")
        try rename(file, target)
      }
    }
    try step("record")
    try write(state, "state.json")
    try rename(home("ready/manifest.json"), home("manifest.json"), isCopy: true)
    try step("clean")
    try abandon()
  }

  /// Removes what is ready.
  private func abandon() throws {
    // The plan goes first: without it there is nothing to resume.
    try remove(home("ready/plan.json"))
    try step("end")
    try remove(home("ready"))
  }

  /// Whether an installation has put a store in place, or the app has removed one for it.
  private func isBegun(_ manifest: Manifest, _ plan: Plan) throws -> Bool {
    if plan.former.keys.contains(where: { !files.fileExists(atPath: place($0).path) }) {
      return true
    }
    return try manifest.stores.enumerated().contains { index, store in
      guard plan.isDelta else { return !files.fileExists(atPath: home("ready/\(index)").path) }
      let stamp = try autoreleased { try self.store(store.path).stamp() }
      return stamp?.stampId == store.stampId && stamp?.install == plan.state.install
    }
  }

  /// Checks that the stores have the local changes that they had before.
  private func requireUnchanged(_ paths: [String], _ former: [String: Seen]) throws {
    for (path, now) in try seen(paths) where former[path] != now {
      throw Refusal(.notAllowed, "the user has changed something since the decision")
    }
  }

  /// The local changes of each store, by its path.
  private func seen(_ paths: [String]) throws -> [String: Seen] {
    try stores(paths).reduce(into: [:]) { $0[$1.path] = Seen(try $1.changes()) }
  }

  /// Unpacks, checks and marks everything in a directory, and renames that directory as a whole.
  private func prepare(
    _ offer: Offer, _ install: String, _ former: [String: Seen]
  ) throws {
    let staging = home("staging")
    try remove(staging)
    try files.createDirectory(at: staging, withIntermediateDirectories: true)
    var changes: [String] = []
    for (index, part) in offer.parts.enumerated() {
      try step("extract \(index)")
      let file = staging.appendingPathComponent("\(index)")
      try offer.extract(part, to: file)
      if offer.isDelta { continue }
      try autoreleased {
        let store = try Store(part.path, open(file, form(file, .sealed)))
        try step("mark \(index)")
        try store.mark(install: install, handback: 0)
        changes += try store.changes()
      }
      if let encrypt {
        let copy = staging.appendingPathComponent("\(index).encrypted")
        try encrypt(file, copy)
        try rename(copy, file)
      }
    }
    try write(offer.document, to: staging.appendingPathComponent("manifest.json"))
    let plan = Plan(
      isDelta: offer.isDelta, former: former,
      state: State(install: install, seen: Seen(changes)))
    try write(JSON.encoder().encode(plan), to: staging.appendingPathComponent("plan.json"))
    if offer.isDelta, offer.parts.count > 1 {
      // A refusal by the last store would leave the others changed.
      for (index, part) in offer.parts.enumerated() {
        try apply(index, part.path, offer.manifest, in: "staging", install, isTrial: true)
      }
    }
    try step("commit")
    try rename(staging, home("ready"))
  }

  private func applyDeltas(_ manifest: Manifest, _ plan: Plan) throws -> Seen {
    for (index, store) in manifest.stores.enumerated() {
      let found = try autoreleased { try self.store(store.path).stamp() }
      if found?.stampId == store.stampId, found?.install == plan.state.install { continue }
      try step("delta \(index)")
      try apply(index, store.path, manifest, in: "ready", plan.state.install)
    }
    return Seen(try manifest.stores.flatMap { try store($0.path).changes() })
  }

  private func apply(
    _ index: Int, _ path: String, _ manifest: Manifest, in folder: String, _ install: String,
    isTrial: Bool = false
  ) throws {
    try autoreleased {
      try store(path).apply(
        home("\(folder)/\(index)"), passphrase: manifest.storeSeal == nil ? nil : passphrase,
        iterations: manifest.seal?.kdfIterations ?? 4_000, install: install, isTrial: isTrial
      ) { if !isTrial { try step("statement") } }
    }
  }

  // MARK: returning

  /// A return that is ready to be uploaded.
  public struct Return: Sendable {
    /// The zip to upload.
    public let file: URL
    fileprivate let install: String
    fileprivate let handback: Int
    fileprivate let at: Date
    fileprivate let seen: Seen
  }

  /// Counts the return in the stores, copies them without the device's key, checks the copies, and
  /// writes them as `file`.
  ///
  /// Upload the file under a name that ends in `.part`, rename it in the inbox, and then call
  /// `delivered`, which removes it.
  public func prepareReturn(as file: URL, now: Date = Date()) throws -> Return {
    try alone { try prepared(file, now) }
  }

  private func prepared(_ file: URL, _ now: Date) throws -> Return {
    try resume()
    guard let manifest: Manifest = read("manifest.json") else {
      throw Refusal(.store, "the stores were not installed by this kit")
    }
    let stores = try manifest.stores.map { try store($0.path) }
    let stamps = try stores.compactMap { try $0.stamp() }
    guard stamps.count == stores.count else { throw Refusal(.store, "a store has no stamp") }
    var state: State = read("state.json") ?? State(install: UUID().uuidString.lowercased())
    let own = zip(manifest.stores, stamps).first { $0.0.scope == "user" }?.1 ?? stamps[0]
    let install = own.install ?? state.install
    // The state of another installation says nothing about this one.
    if state.install != install { state = State(install: install) }
    let handback = (stamps.map(\.handback).max() ?? 0) + 1
    for store in stores { try store.mark(install: install, handback: handback) }
    let work = home("return")
    try remove(work)
    try files.createDirectory(at: work, withIntermediateDirectories: true)
    defer { try? remove(work) }
    var changes: [String] = []
    let part = URL(fileURLWithPath: file.path + ".part")
    try remove(part)
    var zip = try ZipWriter(part)
    try zip.add(data: Data(contentsOf: home("manifest.json")), as: "manifest.json")
    for (index, store) in stores.enumerated() {
      let copy = work.appendingPathComponent("\(index)")
      try store.copy(
        to: copy, passphrase: manifest.seal == nil ? nil : passphrase,
        iterations: manifest.seal?.kdfIterations ?? 4_000)
      try autoreleased {
        let copied = try Store(store.path, open(copy, form(copy, .sealed)))
        try copied.check()
        let stamp = try copied.stamp()
        guard stamp?.install == install, stamp?.handback == handback else {
          throw Refusal(.store, "the copy of \(store.path) is not whole")
        }
        changes += try copied.changes()
      }
      let handle = try FileHandle(forReadingFrom: copy)
      defer { try? handle.close() }
      try zip.add(store.path) { try handle.read(upToCount: 1 << 20) ?? Data() }
    }
    try zip.finish()
    let seen = Seen(changes)
    if seen.count > 0 { state.returnedWork = true }
    try write(state, "state.json")
    try rename(part, file)
    return Return(file: file, install: install, handback: handback, at: now, seen: seen)
  }

  /// Records that a return has arrived in the inbox, and removes its file.
  public func delivered(_ returned: Return) throws {
    try alone {
      if var state: State = read("state.json"), state.install == returned.install {
        state.returned = Installed.Returned(handback: returned.handback, at: returned.at)
        state.seen = returned.seen
        try write(state, "state.json")
      }
      try remove(returned.file)
    }
  }

  // MARK: the state

  /// The local changes at one time.
  struct Seen: Codable, Equatable {
    let count: Int
    let digest: String

    init(_ changes: [String]) {
      let text = changes.sorted().joined(separator: "\n")
      (count, digest) = (changes.count, Digest.sha256Hex(Data(text.utf8)))
    }
  }

  /// What the kit records about an installation.
  private struct State: Codable {
    var install: String
    var seen: Seen?
    var returnedWork = false
    var returned: Installed.Returned?
  }

  private struct Plan: Codable {
    let isDelta: Bool
    /// The local changes of the former stores, by path.
    let former: [String: Seen]
    let state: State
  }

  private func installed(at paths: [String]) throws -> Installed? {
    let manifest: Manifest? = read("manifest.json")
    let stores = try stores(paths)
    guard !stores.isEmpty else { return nil }
    let stamps = try stores.map { ($0.path, try $0.stamp()) }
    let users = Set((manifest?.stores ?? []).filter { $0.scope == "user" }.map(\.path))
    let own = (stamps.first { users.contains($0.0) } ?? stamps[0]).1
    let changes = try stores.flatMap { try $0.changes() }
    let carried = stamps.contains { $0.1?.carried ?? false }
    var state: State? = read("state.json")
    if state?.install != own?.install { state = nil }
    return Installed(
      generation: own?.generation ?? 0,
      created: state == nil ? nil : manifest?.created, stampId: own?.stampId ?? "",
      install: own?.install, handback: stamps.compactMap { $0.1?.handback }.max() ?? 0,
      stamps: Dictionary(stamps.map { ($0.0, $0.1?.stampId ?? "") }, uniquingKeysWith: { $1 }),
      dirty: changes.count, carried: carried, returnedWork: state?.returnedWork ?? false,
      changed: state?.seen.map { $0 != Seen(changes) } ?? (!changes.isEmpty || carried),
      returned: state?.returned)
  }

  /// The stores of the installed bundle, and those at other paths, if they exist.
  private func stores(_ paths: [String]) throws -> [Store] {
    let manifest: Manifest? = read("manifest.json")
    let all = Set(paths + (manifest?.stores.map(\.path) ?? []))
    return try all.sorted().filter { files.fileExists(atPath: place($0).path) }
      .map { try store($0) }
  }

  private func store(_ path: String) throws -> Store {
    let file = place(path)
    guard files.fileExists(atPath: file.path) else { throw Refusal(.store, "\(path) is missing") }
    return try Store(path, open(file, form(file, .device)))
  }

  /// The form of a file: that of its header, or the other one.
  private func form(_ file: URL, _ other: StoreForm) throws -> StoreForm {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    return try handle.read(upToCount: 16) == Data("SQLite format 3\0".utf8) ? .plain : other
  }

  // MARK: files

  /// Runs the body while no other call writes.
  private func alone<R>(_ body: () throws -> R) throws -> R {
    try files.createDirectory(at: home(""), withIntermediateDirectories: true)
    return try Gate.of(home("lock").path).pass(body)
  }

  private func place(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// A file of the kit's own.
  private func home(_ name: String) -> URL {
    root.appendingPathComponent(".attache/\(owner.pipeline)/\(owner.user)/\(name)")
  }

  private func read<T: Decodable>(_ name: String) -> T? {
    (try? Data(contentsOf: home(name))).flatMap { try? JSON.decoder().decode(T.self, from: $0) }
  }

  private func write(_ state: State, _ name: String) throws {
    try JSON.encoder().encode(state).write(to: home(name), options: .atomic)
  }

  /// Writes a new file to the disk.
  private func write(_ content: Data, to file: URL) throws {
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    try handle.write(contentsOf: content)
    try handle.synchronize()
  }

  private func remove(_ file: URL) throws {
    if files.fileExists(atPath: file.path) { try files.removeItem(at: file) }
  }

  private func rename(_ file: URL, _ target: URL, isCopy: Bool = false) throws {
    if isCopy { return try Data(contentsOf: file).write(to: target, options: .atomic) }
    guard Foundation.rename(file.path, target.path) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
  }

  /// Releases the databases that the body opened.
  private func autoreleased<R>(_ body: () throws -> R) rethrows -> R {
    #if canImport(ObjectiveC)
      return try autoreleasepool(invoking: body)
    #else
      return try body()
    #endif
  }
}

extension ZipWriter {
  mutating func add(data: Data, as name: String) throws {
    var rest = data
    try add(name) {
      defer { rest = Data() }
      return rest
    }
  }
}
