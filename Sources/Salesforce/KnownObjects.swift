import Crypto
import JSON
import System

/// What one user was told of an org's objects, each of which is asked for once.
///
/// Users of the same rights are told the same bytes: those are read once and kept once for all of them.
package final class KnownObjects: Sendable {
  /// What bytes say, by their digests.
  package typealias Shared = Locked<[[UInt8]: Describe]>

  private let shared: Shared
  private let objects = Locked<[String: Describe?]>([:])

  /// Nothing is known yet but what other users were told.
  package init(sharing shared: Shared = Shared([:])) { self.shared = shared }

  /// What was told of an object: nothing where nobody asked, and nil where the user has none of that name.
  func find(_ name: String) -> Describe?? {
    objects.withLock { $0[name.lowercased()] }
  }

  /// Keeps what was told of an object.
  func keep(_ describe: Describe?, as name: String) {
    objects.withLock { $0[name.lowercased()] = .some(describe) }
  }

  /// Reads an answer that describes an object; nil for one that does not.
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
