import Bundles
import Crypto
import JSON
import SmartStore
import Snapshots
import System

/// A phone: it installs bundles, its user edits rows as in an app on the Mobile SDK, it is backed
/// up and restored, and it returns its store.
final class Phone {
  struct State {
    var path = ""
    /// The directory of an app that is built on a kit, and its user.
    var root = ""
    var org = ""
    var user = ""
    var node = 0
    var installation = 0
    var stampID = ""
    var install: String?
    var generation = 0
    var handback = 0
    var rows: [RowID: PhoneRow] = [:]
    /// The rows ever changed since then, including those that are clean again.
    var known: Set<RowID> = []
    /// The IDs in the org of the rows that the phone created and sent by itself, with their
    /// markers.
    var sent: [RowID: Sent] = [:]
    /// When its bundle was made, in the org's time.
    var issued: Int64 = 0
    /// The rows at the last return.
    var returned: [RowID: PhoneRow]?
    /// The rows issued as open with the bundle, as they were issued.
    var came: [RowID: PhoneRow] = [:]

    /// Names the copy of the app's directory as the phone's.
    mutating func move(to place: String) {
      path = place + path.dropFirst(root.count)
      root = place
    }
  }

  struct Sent: Sendable, Hashable {
    var marker: String
    var recordID: String
  }

  let number: Int
  let setup: HistorySetup.PhoneSetup
  let platform: Platform
  var state = State()
  /// The kit that the app is built on; nil if it follows the rules by itself.
  var kit: (any PhoneKit)?
  /// The number of returns through the kit.
  var returns = 0
  private(set) var backups: [State] = []
  private let directory: String
  private var files = 0
  init(_ number: Int, _ setup: HistorySetup.PhoneSetup, directory: String) {
    self.number = number
    self.setup = setup
    self.directory = directory
    platform = setup.isAndroid ? .android : .ios
  }

  var username: String { setup.user + "@example.com" }
  var isInstalled: Bool { !state.path.isEmpty }
  /// Whether there are changes that have not been returned.
  var hasNews: Bool {
    state.rows.contains { state.returned?[$0.key] != $0.value && state.came[$0.key] != $0.value }
      || (state.returned == nil && state.came.contains { state.rows[$0.key] == nil })
  }
  /// Whether nothing was changed since the last return; a bundle with open rows needs one.
  private var isReturned: Bool { state.came.isEmpty ? !hasNews : state.returned == state.rows }

  // MARK: installing

  /// Installs a bundle if docs/bundle-format.md allows it; returns the rows lost with the old
  /// store, or nil if it is not allowed.
  ///
  /// `read` records the dirty elements of the new store in the book.
  func install(
    _ bundle: String, node: Int, installation: Int, now: Int64,
    read: (_ element: JSONObject, _ soup: Soup) throws -> PhoneRow
  ) throws -> [RowID: PhoneRow]? {
    let manifest = try BundleReader.inspect(bundle)
    if isInstalled, Int(manifest.generation) <= state.generation { return nil }
    if !state.rows.isEmpty || !state.came.isEmpty {
      guard isReturned, setup.marksInstall || state.came.isEmpty else { return nil }
      if setup.marksInstall {
        let isIncluded = manifest.includes.contains {
          $0.stampID == state.stampID && $0.install == state.install
            && ($0.handback ?? -1) >= state.handback
        }
        guard isIncluded else { return nil }
      }
    }
    let gone = state.rows
    let place = nextPath()
    _ = try BundleReader.extract(bundle, to: place)
    guard let store = manifest.stores.first(where: { $0.scope == .user }) else { return nil }
    try begin(
      manifest, path: place + "/" + store.path, node: node, installation: installation, read: read)
    try withStamp(now: now) { stamp in
      state.stampID = stamp["stampId"]?.string ?? ""
      guard setup.marksInstall else { return }
      state.install = RandomBytes.uuid()
      stamp["install"] = state.install.map { .string($0) }
      stamp["handback"] = 0
    }
    return gone
  }

  /// Records the new store in the book, and its dirty elements.
  func begin(
    _ manifest: Manifest, path: String, node: Int, installation: Int,
    read: (_ element: JSONObject, _ soup: Soup) throws -> PhoneRow
  ) throws {
    state = State(
      path: path, node: node, installation: installation,
      generation: Int(manifest.generation), issued: manifest.created)
    for soup in Soup.all {
      for element in try elements(soup.name) where element["__local__"] == true {
        let row = try read(element, soup)
        state.came[row.id] = row
      }
    }
    state.rows = state.came
    state.known = Set(state.came.keys)
  }

  /// A bundle has what its run sent before it was made, which is later than the run's start.
  func knowBundle(of time: Int64?) { state.issued = max(state.issued, time ?? 0) }

  func nextPath() -> String {
    files += 1
    return "\(directory)/phone-\(number)-\(files)"
  }

  // MARK: backups

  func backUp() throws {
    guard isInstalled else { return }
    var copy = state
    let place = nextPath() + ".backup"
    if kit != nil {
      try copyApp(to: place)
      copy.move(to: place)
    } else {
      copy.path = place
      try Files.copy(state.path, to: copy.path)
    }
    backups.append(copy)
  }

  /// Returns false if there is no backup.
  func restore(_ pick: Int, node: (Int) -> Int) throws -> Bool {
    guard !backups.isEmpty else { return false }
    let backup = backups[pick % backups.count]
    let path = nextPath() + ".restored"
    if kit != nil {
      state = backup
      try copyApp(to: path)
      state.move(to: path)
      try openKit(on: path)
    } else {
      try Files.copy(backup.path, to: path)
      state = backup
      state.path = path
    }
    state.node = node(backup.node)
    return true
  }

  // MARK: rows

  func elements(_ soup: String, in path: String? = nil) throws -> [JSONObject] {
    let store = try Store(opening: path ?? state.path, readOnly: true)
    var objects: [JSONObject] = []
    try store.forEachElement(in: soup) { element in
      if let object = try element.value().object { objects.append(object) }
    }
    try store.close()
    return objects.sorted { Self.entry($0) < Self.entry($1) }
  }

  static func entry(_ object: JSONObject) -> Int64 { object[StoreField.soupEntryID]?.int ?? 0 }

  /// Writes an element as an app does, and records its row in the book.
  func write(
    _ object: JSONObject, over before: JSONObject = [:], into soup: Soup, now: Int64, node: Int,
    _ note: (inout PhoneRow) -> Void
  ) throws -> RowID {
    let store = try Store(opening: state.path)
    store.clock = { now }
    let stored = try store.upsert([.object(object)], into: soup.name).first?.object ?? [:]
    try store.close()
    let id = RowID(soup: soup.name, entry: Self.entry(stored))
    var row = state.rows[id] ?? PhoneRow(id: id, issued: Self.values(before, soup), before: before)
    if row.serverID == nil, let text = object["Id"]?.string, !text.hasPrefix("local_") {
      row.serverID = text
    }
    row.date = now
    row.parent = object["AccountId"]?.string
    note(&row)
    state.rows[id] = row
    state.known.insert(id)
    state.node = node
    return id
  }

  /// Writes a clean element, and removes its row from the book; a nil one is deleted.
  func settle(_ id: RowID, _ object: JSONObject?, now: Int64, node: Int, sent: Sent? = nil) throws {
    let store = try Store(opening: state.path)
    store.clock = { now }
    if let object {
      try store.upsert([.object(object)], into: id.soup)
    } else {
      try store.remove([id.entry], from: id.soup)
    }
    try store.close()
    state.rows[id] = nil
    if let sent { state.sent[id] = sent }
    if object == nil { state.sent[id] = nil }
    state.node = node
  }

  static func values(_ object: JSONObject, _ soup: Soup) -> [String: String] {
    var values: [String: String] = [:]
    for field in soup.listed + [soup.unlisted] { values[field] = object[field]?.string }
    return values
  }

  /// Writes the result of a sync down into the clean rows; a ghost is deleted.
  func fetch(_ records: [JSONObject], into soup: Soup, now: Int64, node: Int) throws {
    let store = try Store(opening: state.path)
    store.clock = { now }
    let held = try elements(soup.name)
    let known = Dictionary(
      held.compactMap { element in element["Id"]?.string.map { ($0, element) } },
      uniquingKeysWith: { first, _ in first })
    for record in records {
      var object = record
      if let old = known[record["Id"]?.string ?? ""] {
        if state.rows[RowID(soup: soup.name, entry: Self.entry(old))] != nil { continue }
        for name in [StoreField.soupEntryID, "__sync_id__"] { object[name] = old[name] }
      } else {
        object["__sync_id__"] = held.first?["__sync_id__"]
      }
      for name in ["", "ly_created", "ly_updated", "ly_deleted"] {
        object["__local\(name)__"] = false
      }
      try store.upsert([.object(object)], into: soup.name)
    }
    let ids = Set(records.compactMap { $0["Id"]?.string })
    let ghosts = held.filter { element in
      state.rows[RowID(soup: soup.name, entry: Self.entry(element))] == nil
        && !ids.contains(element["Id"]?.string ?? "")
    }
    try store.remove(ghosts.map { Self.entry($0) }, from: soup.name)
    for ghost in ghosts { state.sent[RowID(soup: soup.name, entry: Self.entry(ghost))] = nil }
    try store.close()
    state.node = node
  }

  // MARK: returns

  /// Increments `handback` if the app counts, and copies the store.
  func returnStore(to path: String, now: Int64) throws {
    if kit != nil { return try returnApp(to: path, now: now) }
    if setup.marksInstall {
      state.handback += 1
      let number = state.handback
      try withStamp(now: now) { $0["handback"] = JSONValue(number) }
    }
    state.returned = state.rows
    try Files.copy(state.path, to: path)
  }

  private func withStamp(now: Int64, _ body: (inout JSONObject) throws -> Void) throws {
    let store = try Store(opening: state.path)
    store.clock = { now }
    var stamp: JSONObject = [:]
    try store.forEachElement(in: Provenance.soupName) { stamp = try $0.value().object ?? [:] }
    try body(&stamp)
    try store.upsert([.object(stamp)], into: Provenance.soupName)
    try store.close()
  }
}
