import ObjectStore
import System

/// A store that calls a test before each request, which may fail it.
struct DyingStore: ObjectStore {
  enum Request: Sendable { case put, get, head, page, delete }

  let store: any ObjectStore
  private let before: @Sendable (Request, String) async throws(ObjectStoreError) -> Void

  init(
    _ store: any ObjectStore,
    before: @escaping @Sendable (Request, _ key: String) async throws(ObjectStoreError) -> Void
  ) {
    (self.store, self.before) = (store, before)
  }

  /// A store that answers a number of requests, and then none.
  init(_ store: any ObjectStore, after requests: Int) {
    let left = Locked(requests)
    self.init(store) { _, _ throws(ObjectStoreError) in
      let isAlive = left.withLock { left in
        left -= 1
        return left >= 0
      }
      if !isAlive { throw ObjectStoreError(.unreachable("it ended"), store.location) }
    }
  }

  var location: String { store.location }

  func put(
    _ key: String, _ content: ObjectContent, if condition: PutCondition
  ) async throws(ObjectStoreError) -> ObjectVersion {
    try await before(.put, key)
    return try await store.put(key, content, if: condition)
  }

  func get(
    _ key: String, to path: String, limit: Int64
  ) async throws(ObjectStoreError) -> ObjectEntry? {
    try await before(.get, key)
    return try await store.get(key, to: path, limit: limit)
  }

  func head(_ key: String) async throws(ObjectStoreError) -> ObjectEntry? {
    try await before(.head, key)
    return try await store.head(key)
  }

  func page(
    of prefix: String, after mark: String?
  ) async throws(ObjectStoreError) -> ObjectPage {
    try await before(.page, prefix)
    return try await store.page(of: prefix, after: mark)
  }

  func delete(_ key: String, matching version: ObjectVersion) async throws(ObjectStoreError) {
    try await before(.delete, key)
    try await store.delete(key, matching: version)
  }

  func url(_ method: String, _ key: String, seconds: Int) -> String? {
    store.url(method, key, seconds: seconds)
  }
}
