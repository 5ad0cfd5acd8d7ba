import Salesforce
import SmartStore
import System

/// The reason why a sync failed.
public struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  ///
  /// The code is stable and is printed in brackets.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The definition of a sync, or its query, is invalid.
    case definition = "sync.definition"
    /// The feature is not implemented.
    case notYet = "sync.not-yet"
    /// The org refused a query.
    case queryRefused = "sync.query-refused"
    /// The org's response does not follow the protocol.
    case badResponse = "sync.bad-response"
    /// Fewer records arrived than the org promised.
    case incomplete = "sync.incomplete"
    /// A record has no value in the field that identifies it.
    case recordWithoutID = "sync.record-without-id"
    /// A briefcase rule failed in the org.
    case ruleErrors = "sync.rule-errors"
    /// More records would be deleted than the guard allows.
    case tooManyDeletes = "sync.too-many-deletes"
    /// The store could not be read or written.
    case store = "sync.store"
    /// The org could not be reached, or the login failed.
    case org = "sync.org"
    /// No sync has this ID or name.
    case unknownSync = "sync.unknown"
    /// The sync is still running.
    case running = "sync.running"
    /// The sync manager was stopped.
    case stopped = "sync.stopped"
    /// The code of a custom target failed.
    case target = "sync.target"
    /// The run was cancelled.
    case cancelled = "sync.cancelled"
  }

  /// What kind of failure it is.
  public var code: Code
  /// What is wrong; never contains a record's values.
  public var message: String
  /// How to fix it.
  public var fix: String?
  /// The sync that failed, if known.
  public var syncName: String?

  /// The org's error or the connection error that caused the failure.
  package var cause: OrgError?
  /// Whether the disk is full.
  package var isOfFullDisk = false

  /// The HTTP status of the org's response, if that was the cause.
  public var status: Int? { cause?.status }
  /// The org's `errorCode`, if that was the cause.
  public var errorCode: String? { cause?.code }
  /// Whether the login failed or the session was revoked, so that a new login is needed.
  public var isAuthentication: Bool { cause?.kind == .authentication }

  /// Creates an error.
  public init(_ code: Code, _ message: String, fix: String? = nil, syncName: String? = nil) {
    self.code = code
    self.message = message
    self.fix = fix
    self.syncName = syncName
  }

  /// Creates an error that was caused by the org or by the connection to it.
  package init(_ error: OrgError, syncName: String? = nil) {
    let code: Code =
      switch error.kind {
      case .refused: .queryRefused
      case .invalidResponse: .badResponse
      case .cancelled: .cancelled
      default: .org
      }
    self.init(code, error.description, syncName: syncName)
    cause = error
  }

  /// Creates an error of a store or of its disk; `place` is the file, for errors that do not name
  /// it.
  package init(store error: any Error, at place: String? = nil) {
    self.init(.store, (place.map { "\($0): " } ?? "") + "\(error)")
    isOfFullDisk = (error as? StoreError)?.isFull ?? (error as? SystemError)?.isFull ?? false
  }

  /// Returns the error with the sync's name, unless it already has one.
  package func of(_ syncName: String) -> SyncError {
    var error = self
    error.syncName = error.syncName ?? syncName
    return error
  }

  /// The sync, the problem and the fix in one sentence.
  public var description: String {
    let sync = syncName.map { "sync \"\($0)\": " } ?? ""
    return sync + message + (fix.map { "; \($0)" } ?? "") + " [\(code.rawValue)]"
  }
}

extension SyncError {
  /// Runs `body`, which uses a store, and converts its errors to `SyncError`.
  ///
  /// They become errors of the store, except an HTML page instead of a response: this is an error
  /// of the org or of a proxy.
  package static func inStore<T>(_ body: () throws -> T) throws(SyncError) -> T {
    do { return try body() } catch let error as SyncError { throw error } catch {
      if case .recordWithoutID(_, _, let path) = error as? StoreError,
        path != TargetFields().idFieldName
      {
        throw SyncError(
          .recordWithoutID, "\(error)",
          fix: "select only records that have it: WHERE \(path) != null")
      }
      if let error = error as? StoreError, error.isAboutPage {
        throw SyncError(.badResponse, "\(error)")
      }
      throw SyncError(store: error)
    }
  }

  /// Runs `body`, which parses a query; an invalid query becomes an invalid definition.
  static func inQuery<T>(_ body: () throws -> T) throws(SyncError) -> T {
    do { return try body() } catch let error as SOQLError {
      throw SyncError(.definition, error.message, fix: error.fix)
    } catch {
      throw (error as? SyncError) ?? SyncError(.definition, "\(error)")
    }
  }

  /// Runs `body`, which sends requests; its errors become errors of the org.
  static func inOrg<T>(_ body: () async throws -> T) async throws(SyncError) -> T {
    do { return try await body() } catch let error as SyncError { throw error } catch {
      guard let error = error as? OrgError else { throw SyncError(.org, "\(error)") }
      throw SyncError(error)
    }
  }

  /// Runs `body`, which parses a response; an error reports that `what` cannot be read.
  static func reading<T>(_ what: String, _ body: () throws -> T) throws(SyncError) -> T {
    do { return try body() } catch let error as SyncError { throw error } catch {
      throw SyncError(.badResponse, "\(what) cannot be read: \(error)")
    }
  }
}
