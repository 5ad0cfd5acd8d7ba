import Crypto
import ObjectStore
import Returns
import System

/// The prefix of an object store in which returns arrive, one object each.
///
/// An object is removed only in the version that was fetched.
struct ObjectInbox: Sendable {
  /// An object that may be a return.
  struct Arrival: Sendable {
    let object: ObjectEntry
    /// The name of the return: the key, with `_` instead of `/`.
    let name: String
    /// Why it cannot be taken and stays in the store; nil if it can.
    let refusal: Refusal?
  }

  /// The result of fetching an object.
  enum Fetching: Sendable {
    /// The file has the content of the object, which has its digest.
    case fetched(ObjectEntry, path: String)
    /// The object was removed meanwhile.
    case gone
    /// The object stays in the store, with the reason.
    case left(Refusal)
  }

  let store: any ObjectStore
  /// How many seconds an object must stay unchanged.
  let settleSeconds: Int
  /// The maximum size of an object.
  let mostBytes: Int64

  /// The number of requests at the same time.
  private static let width = 4
  /// The largest number and size of objects whose copies are on disk at the same time, if there is
  /// more than one.
  private static let batch = (count: 64, bytes: Int64(1) << 30)
  /// The longest key, in bytes, that names a file.
  private static let longestName = 200

  /// The object in messages.
  func location(_ object: ObjectEntry) -> String { store.location + "/" + object.key }

  // MARK: lists

  /// Returns the objects that the inbox directory would take or report as files, oldest first, in
  /// batches.
  ///
  /// `now` is the wall clock's time.
  func arrivals(now milliseconds: Int64) async throws(ObjectStoreError) -> [[Arrival]] {
    let page = try await store.wholePage(of: "")
    let objects = page.objects
    let logs = Set(
      objects.lazy.filter { Inbox.isCompanion($0.key) && $0.size > 0 }.map { $0.key.lowercased() })
    let found = objects.filter { Self.isSeen($0.key) && hasStoodStill($0, milliseconds) }
      .sorted { ($0.modified, $0.key) < ($1.modified, $1.key) }
      .map { object in
        let name = Self.name(of: object.key)
        return Arrival(object: object, name: name, refusal: refusal(of: object, name, logs))
      }
    let foreign = page.foreign.filter { Self.isSeen($0.object.key) }.map { entry in
      let name = Self.name(of: entry.object.key)
      let refusal = entry.kind.map { Refusal.notAFile(name, $0) } ?? .unreadableName(name)
      return Arrival(object: entry.object, name: name, refusal: refusal)
    }
    var batches: [[Arrival]] = foreign.isEmpty ? [] : [foreign]
    var bytes: Int64 = 0
    for arrival in found {
      bytes += arrival.object.size
      if let last = batches.last, last.count < Self.batch.count, bytes <= Self.batch.bytes {
        batches[batches.count - 1].append(arrival)
      } else {
        batches.append([arrival])
        bytes = arrival.object.size
      }
    }
    return batches
  }

  /// Whether no part of a key is hidden, and it does not name a directory or an upload in progress.
  private static func isSeen(_ key: String) -> Bool {
    let parts = key.split(separator: "/", omittingEmptySubsequences: false)
    guard let last = parts.last, !last.isEmpty else { return false }
    return !parts.contains { $0.hasPrefix(".") } && !Inbox.isUpload(String(last))
  }

  /// The name of an object as a file.
  static func name(of key: String) -> String {
    if key.utf8.count <= longestName, !key.utf8.contains(0) {
      return key.replacing("/", with: "_")
    }
    return "return-" + Digest.sha256Hex(Array(key.utf8)).prefix(32)
  }

  private func hasStoodStill(_ object: ObjectEntry, _ now: Int64) -> Bool {
    // A time in the future means that the clocks differ.
    let (age, wait) = (now - object.modified, Int64(settleSeconds) * 1000)
    return age >= wait || age < -wait
  }

  private func refusal(
    of object: ObjectEntry, _ name: String, _ logs: Set<String>
  ) -> Refusal? {
    let fix = "let the app close the store before it returns it, or return a bundle; remove "
    if Inbox.isCompanion(object.key) {
      return Refusal(
        .alone, "\(name) belongs to a store, but objects are written one by one", fix: fix + "it")
    }
    let key = object.key.lowercased()
    if let log = ["-wal", "-journal"].first(where: { logs.contains(key + $0) }) {
      return Refusal(
        .log,
        "\(name) and \(name)\(log) may not belong together: objects are written one by one",
        fix: fix + "both")
    }
    return object.size > mostBytes ? .tooLargeToTake(name, than: mostBytes) : nil
  }

  // MARK: fetching

  /// Fetches objects to new files in a directory.
  ///
  /// Each object fails alone. Throws only if the store, or this machine, is at fault.
  func fetch(_ batch: [Arrival], into directory: String) async throws -> [Fetching] {
    try await Self.perform(batch) { index, arrival in
      // Two keys may make one name.
      let place = directory + "/\(index)"
      try Files.makeDirectory(place)
      return try await fetch(arrival, to: place + "/" + arrival.name)
    }
  }

  private func fetch(
    _ arrival: Arrival, to path: String
  ) async throws(ObjectStoreError) -> Fetching {
    if let refusal = arrival.refusal { return .left(refusal) }
    do throws(ObjectStoreError) {
      guard let found = try await store.get(arrival.object.key, to: path, limit: mostBytes) else {
        return .gone
      }
      // A new object has not stayed unchanged for long enough.
      guard found.version == arrival.object.version else { return .left(.changing(arrival.name)) }
      return .fetched(found, path: path)
    } catch {
      switch error.kind {
      case .conditionFailed, .tooLarge: return .left(.changing(arrival.name))
      case .denied, .refused, .damaged, .invalidKey, .invalidResponse:
        return .left(
          Refusal(
            .unreadable, "\(arrival.name) cannot be read: \(error.description)", fix: error.fix))
      case .unreachable, .missing, .ignoresConditions, .file, .cancelled: throw error
      }
    }
  }

  // MARK: removal

  /// Removes objects that were fetched, and returns for each why it is still there.
  ///
  /// Another version under the key stays, without a reason. Throws if the store cannot be reached.
  func remove(_ objects: [ObjectEntry]) async throws -> [Refusal?] {
    try await Self.perform(objects) { _, object in
      do {
        try await store.delete(object.key, matching: object.version)
        return nil
      } catch let error as ObjectStoreError {
        switch error.kind {
        case .conditionFailed: return nil
        case .unreachable, .cancelled: throw error
        default:
          let name = Self.name(of: object.key)
          return Refusal(
            .notRemoved, "\(name) was taken and cannot be removed: \(error.description)",
            fix: "let the access key delete objects, or remove the object")
        }
      }
    }
  }

  /// Returns the results of some work on each item, in order.
  private static func perform<Item: Sendable, Answer: Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Int, Item) async throws -> Answer
  ) async throws -> [Answer] {
    try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
      var answers: [Int: Answer] = [:]
      for (index, item) in items.enumerated() {
        if index >= width, let (place, answer) = try await group.next() { answers[place] = answer }
        group.addTask { (index, try await work(index, item)) }
      }
      while let (place, answer) = try await group.next() { answers[place] = answer }
      return items.indices.compactMap { answers[$0] }
    }
  }
}
