import System

/// An embedded org, with its records in one directory and one caller at a time.
package final class Org: Sendable {
  /// The options for opening an org.
  package struct Options: Sendable {
    /// The start of the org's clock, in milliseconds; it then moves one second with each record
    /// written, so that two orgs that received the same calls are equal.
    ///
    /// Nil uses the wall clock.
    package var clockStart: Int64?
    /// Whether a newly created org gets a unique ID, as a refreshed sandbox does.
    package var hasOwnID: Bool

    package init(clockStart: Int64? = nil, hasOwnID: Bool = false) {
      self.clockStart = clockStart
      self.hasOwnID = hasOwnID
    }
  }

  /// The directory of the org's data.
  package let directory: String
  /// The org's 18-character ID.
  package let organizationID: String

  // Safe because `store` is accessed only through `locked`, which holds `gate`, or on the thread of
  // a `transaction` that holds it and waits for its body.
  private struct Guarded: @unchecked Sendable {
    let store: OrgStore
  }

  // The value must not be empty: an empty one shares its address with the next object, and the
  // thread sanitizer confuses the two.
  private let gate = Locked(false)
  private let guarded: Guarded
  /// The org whose transaction the current task is in.
  @TaskLocal private static var holder: ObjectIdentifier?

  /// Opens the org in a directory; an empty directory becomes an org with one administrator.
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

  /// Runs `body` with exclusive access to the org.
  ///
  /// A call from within `transaction` is allowed; `admitting` makes the call a transaction.
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

  /// Milliseconds since 1970 by the org's clock, as in its `Date` header.
  package func now() -> Int64 { (try? locked { $0.clock.now() }) ?? 0 }

  /// Runs several operations in one transaction: if `body` throws, none of them takes effect.
  ///
  /// Transactions may be nested. The operations inside are called on the org as usual, from the
  /// same thread.
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

  /// The object with that name, ignoring case.
  package func schema(_ name: String) -> ObjectSchema? { Catalog.standard.object(name) }

  /// The object of an ID, found by its key prefix.
  package func schema(ofID id: String) -> ObjectSchema? { Catalog.standard.object(ofID: id) }
}
