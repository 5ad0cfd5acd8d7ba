import System

/// An embedded org: its records in one directory, read and written by one caller at a time.
package final class Org: Sendable {
  /// How an org behaves.
  package struct Options: Sendable {
    /// Where the org's clock starts, in milliseconds; it then moves one second with each record
    /// written, so that two orgs fed the same calls are equal.
    ///
    /// Nil: the wall clock.
    package var clockStart: Int64?
    /// Whether an org that is made gets an id that no other has, as a refreshed sandbox does.
    package var hasOwnID: Bool

    /// Makes options.
    package init(clockStart: Int64? = nil, hasOwnID: Bool = false) {
      self.clockStart = clockStart
      self.hasOwnID = hasOwnID
    }
  }

  /// The directory of the org's data.
  package let directory: String
  /// The 18-character id of the org.
  package let organizationID: String

  // Proof: `store` is reached through `locked` alone, which holds `gate`, or runs on the thread of
  // a `transaction` that holds it and waits for its body.
  private struct Guarded: @unchecked Sendable {
    let store: OrgStore
  }

  // A value with a size: the address of an empty one is the next object's, and the thread sanitizer
  // takes the two for one.
  private let gate = Locked(false)
  private let guarded: Guarded
  /// The org whose transaction this thread is in.
  @TaskLocal private static var holder: ObjectIdentifier?

  /// Opens the org in a directory; an empty one becomes an org with one administrator.
  package init(directory: String, options: Options = Options()) throws(OrgError) {
    self.directory = directory
    do {
      let store = try OrgStore(
        directory: directory, clockStart: options.clockStart, hasOwnID: options.hasOwnID)
      guarded = Guarded(store: store)
      organizationID = try store.organizationID()
    } catch {
      throw OrgError.storage(error)
    }
  }

  /// Runs `body` alone on the org.
  ///
  /// A call from inside `transaction` is let through; `admitting` is what makes one.
  func locked<T>(admitting: Bool = false, _ body: (OrgStore) throws -> T) throws(OrgError) -> T {
    do {
      if Org.holder == ObjectIdentifier(self) { return try body(guarded.store) }
      var outcome: Result<T, any Error>?
      gate.withLock { _ in
        Org.$holder.withValue(admitting ? ObjectIdentifier(self) : Org.holder) {
          outcome = Result { try body(guarded.store) }
        }
      }
      guard let outcome else { throw OrgError.storage(OrgError.notFound) }
      return try outcome.get()
    } catch {
      throw OrgError.storage(error)
    }
  }

  /// Milliseconds since 1970 by the org's clock, which is what its `Date` header says.
  package func now() -> Int64 { (try? locked { $0.clock.now() }) ?? 0 }

  /// Runs several operations as one: if `body` throws, none of them happened.
  ///
  /// May be nested; the operations inside are called on the org as usual, from the same thread.
  @discardableResult
  package func transaction<T>(_ body: () throws -> T) throws -> T {
    var failure: (any Error)?
    let value: T? = try locked(admitting: true) { store in
      do {
        return try store.transaction(body)
      } catch {
        failure = error
        return nil
      }
    }
    if let failure { throw failure }
    guard let value else { throw OrgError.notFound }
    return value
  }

  // MARK: Schema

  /// Every object, in the order of a global describe.
  package func objects() -> [ObjectSchema] { Catalog.standard.objects }

  /// The object of that name, whatever its case.
  package func schema(_ name: String) -> ObjectSchema? { Catalog.standard.object(name) }

  /// The object to which an id belongs by its key prefix.
  package func schema(ofID id: String) -> ObjectSchema? { Catalog.standard.object(ofID: id) }
}
