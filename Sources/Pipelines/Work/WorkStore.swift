import Crypto
import JSON
import ObjectStore
import Snapshots
import System

/// The objects through which a run and its workers exchange orders and results.
///
/// ```
/// <pipeline>/work/orders.json                        names the orders of the open run
/// <pipeline>/work/<set>/orders/<k>                   an order
/// <pipeline>/work/<set>/claims/<k>.<attempt>         who performs it
/// <pipeline>/work/<set>/results/<k>.<digest>.done    a result, or .part for a part
/// <pipeline>/work/files/<digest>                     a file of a generation
/// ```
///
/// Files, orders and results have keys that no other content ever has, so that it does not matter
/// how often one is written. A result is written after its files.
struct WorkStore: Sendable {
  let store: any ObjectStore
  private let prefix: String
  /// A directory for copies of documents.
  let scratch: String

  /// The number of files of a snapshot, and of snapshots, that are copied at the same time.
  static let width = 4
  /// The maximum size of a document.
  private static let documentLimit: Int64 = 1 << 28

  private init(_ store: any ObjectStore, of pipeline: Pipeline, scratch: String) {
    (self.store, self.scratch) = (store, scratch)
    prefix = pipeline.name + "/work/"
  }

  /// Calls `body` with the store of a pipeline's orders, which is `given` or that of the pipeline.
  ///
  /// If it may be new, a missing directory is created.
  static func with<T>(
    _ given: (any ObjectStore)?, of pipeline: Pipeline, _ variables: [String: String],
    mayBeNew: Bool = false, _ body: (WorkStore) async throws -> T
  ) async throws -> T {
    let scratch = try ScratchDirectory(variables)
    defer { scratch.remove() }
    let store = try given ?? opened(of: pipeline, variables, mayBeNew)
    return try await body(WorkStore(store, of: pipeline, scratch: scratch.path))
  }

  private static func opened(
    of pipeline: Pipeline, _ variables: [String: String], _ mayBeNew: Bool
  ) throws -> any ObjectStore {
    guard let settings = pipeline.work else {
      throw PipelineError(
        .configuration, "work.no-store", "the pipeline does not say where orders wait for workers",
        location: pipeline.file, fix: "add \"work\" to the pipeline file")
    }
    return try settings.store.open(variables, caFile: pipeline.org.caFile, mayBeNew: mayBeNew)
  }

  func key(_ path: String) -> String { prefix + path }
  static let list = "orders.json"
  private static let files = "files/"
  private static func order(_ index: Int, of set: String) -> String { "\(set)/orders/\(index)" }
  static func claims(of set: String) -> String { set + "/claims/" }
  static func results(of set: String) -> String { set + "/results/" }

  /// Throws if the store ignores conditions, or cannot be written to.
  func check() async throws(ObjectStoreError) {
    try await store.checkConditions(below: prefix)
  }

  // MARK: documents

  /// The bytes of a document, with their digest.
  typealias Document = (bytes: [UInt8], sha256: String)

  static func document(_ json: JSONValue) -> Document {
    let bytes = json.bytes(pretty: false, sortedKeys: false)
    return (bytes, Digest.sha256Hex(bytes))
  }

  /// Reads a small object, with its digest; nil if there is none.
  func content(
    _ key: String, limit: Int64
  ) async throws -> (bytes: [UInt8], sha256: String?)? {
    let copy = scratch + "/" + RandomBytes.uuid()
    guard let found = try await store.get(key, to: copy, limit: limit) else { return nil }
    defer {
      // A leftover copy in the scratch directory does no harm.
      try? Files.remove(copy)
    }
    return (try Files.read(copy), found.sha256)
  }

  /// Reads a document; nil if there is none.
  private func read(_ path: String, sha256: String? = nil) async throws -> MemberReader? {
    guard let found = try await content(key(path), limit: Self.documentLimit) else { return nil }
    let place = store.location + "/" + key(path)
    if let sha256, found.sha256 != sha256 { throw ObjectStoreError(.damaged, place) }
    let name = Files.name(of: path)
    let json: JSONValue
    do { json = try JSONValue(parsing: found.bytes) } catch {
      throw SnapshotError.damaged(path: place, file: name, reason: error.message)
    }
    let reader = MemberReader(json: json, path: place, file: name)
    guard try reader.integer("format") == OrderList.format else {
      throw SnapshotError.newerFormat(path: place, format: try reader.integer("format"))
    }
    return reader
  }

  func orderList() async throws -> OrderList? {
    try await read(Self.list).map { try OrderList($0) }
  }

  func order(_ index: Int, of list: OrderList, _ pipeline: Pipeline) async throws -> WorkOrder? {
    guard list.orders.indices.contains(index) else { return nil }
    return try await read(Self.order(index, of: list.set), sha256: list.orders[index]).map {
      try WorkOrder($0, mask: pipeline.report.reportMask)
    }
  }

  func write(_ order: Document, _ index: Int, of set: String) async throws(ObjectStoreError) {
    try await put(Self.order(index, of: set), ObjectContent(order.bytes))
  }

  func write(_ list: OrderList) async throws(ObjectStoreError) {
    try await store.put(key(Self.list), ObjectContent(list.json.bytes), if: .absent)
  }

  /// Writes a result; a partial one leaves the order to the next worker.
  func write(_ result: WorkResult, _ index: Int, of set: String) async throws(ObjectStoreError) {
    let document = Self.document(result.json)
    let name = result.isForLater ? Self.part : Self.done
    try await put(
      Self.results(of: set) + "\(index).\(document.sha256).\(name)", ObjectContent(document.bytes))
  }

  private static let (done, part) = ("done", "part")

  /// Puts an object whose key no other content has.
  private func put(_ path: String, _ content: ObjectContent) async throws(ObjectStoreError) {
    do throws(ObjectStoreError) {
      try await store.put(key(path), content, if: .absent)
    } catch {
      guard error.kind == .conditionFailed else { throw error }
    }
  }

  /// An object of a set, by the index of its order.
  struct Entry: Sendable {
    let object: ObjectEntry
    let order: Int
    /// The parts of the name behind the order.
    let rest: [String]

    /// Whether it is a result that needs no other attempt.
    var isDone: Bool { rest.last == WorkStore.done }
  }

  /// Returns the claims or the results of a set, in the order of the keys.
  func entries(_ directory: String, of order: Int? = nil) async throws(ObjectStoreError) -> [Entry]
  {
    let objects = try await store.list(key(directory) + (order.map { "\($0)." } ?? ""))
    return objects.compactMap { object in
      let parts = object.key.dropFirst(key(directory).utf8.count).split(separator: ".")
      guard let order = parts.first.flatMap({ Int($0) }) else { return nil }
      return Entry(object: object, order: order, rest: parts.dropFirst().map(String.init))
    }
  }

  /// Reads a result; nil if it was removed.
  func result(_ entry: Entry) async throws -> WorkResult? {
    let path = String(entry.object.key.dropFirst(prefix.utf8.count))
    return try await read(path, sha256: entry.rest.first).map { try WorkResult($0) }
  }

  // MARK: files

  func files() async throws(ObjectStoreError) -> Set<String> {
    let start = key(Self.files)
    return Set(try await store.list(start).map { String($0.key.dropFirst(start.utf8.count)) })
  }

  /// Writes files that are below a directory.
  func put(_ files: [WorkFile], from directory: String) async throws {
    try await Self.each(files) { file in
      let content = try ObjectContent(
        file: directory + "/" + file.path, sha256: file.sha256)
      guard Int64(content.size) == file.bytes else {
        throw SnapshotError.damaged(
          path: directory, file: file.path, reason: "was changed after it was published")
      }
      try await put(Self.files + file.sha256, content)
    }
  }

  /// Copies files into a directory; each has its digest.
  func get(_ files: [WorkFile], into directory: String) async throws {
    for file in files {
      try Files.makeDirectory(Files.parent(of: directory + "/" + file.path) ?? directory)
    }
    try await Self.each(files) { file in
      let key = key(Self.files + file.sha256)
      let found = try await store.get(key, to: directory + "/" + file.path, limit: file.bytes)
      guard found?.sha256 == file.sha256 else {
        throw ObjectStoreError(.damaged, store.location + "/" + key)
      }
    }
  }

  private static func each<Element: Sendable>(
    _ elements: [Element], _ step: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var rest = elements[...]
      func start() {
        guard let next = rest.popFirst() else { return }
        group.addTask { try await step(next) }
      }
      for _ in 0..<width { start() }
      while try await group.next() != nil { start() }
    }
  }

  // MARK: remains

  /// Removes the objects of all sets, and all files but those with the given digests.
  func removeAll(except files: Set<String>) async throws(ObjectStoreError) {
    let kept = Set(files.map { key(Self.files + $0) })
    let probes = key("attache-probe/")
    // Workers look for the list first.
    if let list = try await store.head(key(Self.list)) {
      try await store.delete(list.key, matching: list.version)
    }
    for object in try await store.list(prefix)
    where !kept.contains(object.key) && !object.key.hasPrefix(probes) {
      try await store.delete(object.key, matching: object.version)
    }
  }
}
