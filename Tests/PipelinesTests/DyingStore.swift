import ObjectStore
import System

/// A store that answers a number of requests, and then none.
struct DyingStore: ObjectStore {
  let store: any ObjectStore
  private let left: Locked<Int>

  init(_ store: any ObjectStore, after requests: Int) {
    (self.store, left) = (store, Locked(requests))
  }

  var location: String { store.location }

  private func request() throws(ObjectStoreError) {
    let isAlive = left.withLock { left in
      left -= 1
      return left >= 0
    }
    if !isAlive { throw ObjectStoreError(.unreachable("it ended"), location) }
  }

  func put(
    _ key: String, _ content: ObjectContent, if condition: PutCondition
  ) async throws(ObjectStoreError) -> ObjectVersion {
    try request()
    return try await store.put(key, content, if: condition)
  }

  func get(
    _ key: String, to path: String, limit: Int64
  ) async throws(ObjectStoreError) -> ObjectEntry? {
    try request()
    return try await store.get(key, to: path, limit: limit)
  }

  func head(_ key: String) async throws(ObjectStoreError) -> ObjectEntry? {
    try request()
    return try await store.head(key)
  }

  func page(
    of prefix: String, after mark: String?
  ) async throws(ObjectStoreError) -> ObjectPage {
    try request()
    return try await store.page(of: prefix, after: mark)
  }

  func delete(_ key: String, matching version: ObjectVersion) async throws(ObjectStoreError) {
    try request()
    try await store.delete(key, matching: version)
  }

  func url(_ method: String, _ key: String, seconds: Int) -> String? {
    store.url(method, key, seconds: seconds)
  }
}
