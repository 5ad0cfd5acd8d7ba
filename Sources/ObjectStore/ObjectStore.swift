import Crypto

/// A store of objects by key, in which a write can depend on what is there.
///
/// Two writers that put one key on the same condition never both succeed, whatever their machines.
/// A reader sees an object as a whole, or not at all.
package protocol ObjectStore: Sendable {
  /// The store's name in messages, without any secret.
  var location: String { get }

  /// Writes an object and returns its version.
  ///
  /// - Throws: `ObjectStoreError.Kind.conditionFailed` if the condition does not hold; then nothing
  ///   was written.
  @discardableResult
  func put(
    _ key: String, _ content: ObjectContent, if condition: PutCondition
  ) async throws(ObjectStoreError) -> ObjectVersion

  /// Writes an object's content to a new file.
  ///
  /// - Returns: The object, with the digest of the file; nil if there is none, and then there is no
  ///   file.
  /// - Throws: `ObjectStoreError.Kind.tooLarge` if it has more than `limit` bytes.
  func get(
    _ key: String, to path: String, limit: Int64
  ) async throws(ObjectStoreError) -> ObjectEntry?

  /// Returns the facts about an object; nil if there is none.
  func head(_ key: String) async throws(ObjectStoreError) -> ObjectEntry?

  /// Returns the objects whose keys start with a prefix, in the order of their keys: a page of them
  /// that follows the page which returned this mark, or the first page.
  func page(
    of prefix: String, after mark: String?
  ) async throws(ObjectStoreError) -> ObjectPage

  /// Removes an object in this version.
  ///
  /// A missing object is not an error.
  ///
  /// - Throws: `ObjectStoreError.Kind.conditionFailed` if the object has another version.
  func delete(_ key: String, matching version: ObjectVersion) async throws(ObjectStoreError)

  /// Returns an address with which anyone can read (`GET`) or write (`PUT`) the object for some
  /// time; nil if the store has no addresses.
  func url(_ method: String, _ key: String, seconds: Int) -> String?
}

extension ObjectStore {
  /// Returns all objects whose keys start with a prefix, in the order of their keys.
  package func list(_ prefix: String) async throws(ObjectStoreError) -> [ObjectEntry] {
    try await wholePage(of: prefix).objects
  }

  /// Returns all pages as one.
  package func wholePage(of prefix: String) async throws(ObjectStoreError) -> ObjectPage {
    var whole = ObjectPage(objects: [])
    var mark: String?
    repeat {
      let page = try await page(of: prefix, after: mark)
      whole.objects += page.objects
      whole.foreign += page.foreign
      mark = page.next
    } while mark != nil
    return whole
  }

  /// Checks that the store honours conditions, with four writes of a new key below `prefix`.
  ///
  /// A store that ignores them would let one machine overwrite what another published.
  ///
  /// - Throws: `ObjectStoreError.Kind.ignoresConditions`.
  package func checkConditions(below prefix: String) async throws(ObjectStoreError) {
    let key = prefix + "attache-probe/" + Hex.encode(RandomBytes.make(16))
    func write(_ text: String, _ condition: PutCondition) async throws(ObjectStoreError)
      -> ObjectVersion?
    {
      do throws(ObjectStoreError) {
        return try await put(key, ObjectContent(Array(text.utf8)), if: condition)
      } catch {
        guard case .conditionFailed = error.kind else { throw error }
        return nil
      }
    }
    let first = try await write("1", .absent)
    var newest = try await write("2", .absent) ?? first
    var ignores = newest != first
    if let first, !ignores {
      newest = try await write("3", .matching(first))
      if let second = try await write("4", .matching(first)) { (newest, ignores) = (second, true) }
    }
    if ignores || newest == nil {
      // Such a store may refuse to remove the object, too.
      if let newest { try? await delete(key, matching: newest) }
      throw ObjectStoreError(.ignoresConditions, location)
    }
    if let newest { try await delete(key, matching: newest) }
  }
}
