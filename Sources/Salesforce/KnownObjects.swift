import Crypto
import JSON
import System

/// The object descriptions that a user received, each requested once.
///
/// Users with the same permissions receive the same bytes, which are parsed and stored once for all
/// of them.
package final class KnownObjects: Sendable {
  /// The parsed descriptions, by the digest of their bytes.
  package typealias Shared = Locked<[[UInt8]: Describe]>

  private let shared: Shared
  private let objects = Locked<[String: Describe?]>([:])
  private let expected = Locked<[String]>([])
  /// The fields of each object that the user has read, all in lower case.
  private let readable = Locked<[String: Set<String>]>([:])

  /// Creates an empty cache on top of the descriptions of other users.
  package init(sharing shared: Shared = Shared([:])) { self.shared = shared }

  /// The description of an object: nothing if it was not requested, nil if the user has no such
  /// object.
  func find(_ name: String) -> Describe?? {
    objects.withLock { $0[name.lowercased()] }
  }

  /// Stores the description of an object.
  func keep(_ describe: Describe?, as name: String) {
    objects.withLock { $0[name.lowercased()] = .some(describe) }
  }

  /// The objects that the next request with several parts describes.
  var expectedNames: [String] { expected.withLock { $0 } }

  /// Adds objects that the next request with several parts describes.
  func expect(_ names: [String]) { expected.withLock { $0 += names } }

  /// Removes and returns the objects to be described.
  func takeExpected() -> [String] {
    expected.withLock { names in
      defer { names = [] }
      return names
    }
  }

  /// Records that the user has read fields of an object.
  func note(read fields: [String], of name: String) {
    let fields = fields.map { $0.lowercased() }
    readable.withLock { $0[name.lowercased(), default: []].formUnion(fields) }
  }

  /// Whether the user has read a field of an object; nil stands for any field.
  func hasRead(_ field: String?, of name: String) -> Bool {
    readable.withLock { readable in
      guard let fields = readable[name.lowercased()] else { return false }
      return field.map { fields.contains($0.lowercased()) } ?? true
    }
  }

  /// Parses the description of an object; nil if the bytes are not one.
  func read(_ bytes: [UInt8]) -> Describe? {
    let digest = Digest.sha256(bytes)
    if let known = shared.withLock({ $0[digest] }) { return known }
    guard let value = try? JSONValue(parsing: bytes), let describe = Describe(value) else {
      return nil
    }
    shared.withLock { $0[digest] = describe }
    return describe
  }
}
