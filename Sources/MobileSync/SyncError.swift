import Salesforce
import SmartStore
import System

/// Why a sync could not be done.
public struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it is; the code is stable and printed in brackets.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The definition of a sync, or its query, cannot be used.
    case definition = "sync.definition"
    /// The feature is planned, not there.
    case notYet = "sync.not-yet"
    /// The org refused a query.
    case queryRefused = "sync.query-refused"
    /// The org's answer is not what the protocol says.
    case badResponse = "sync.bad-response"
    /// Fewer records arrived than the org promised.
    case incomplete = "sync.incomplete"
    /// A briefcase rule failed in the org.
    case ruleErrors = "sync.rule-errors"
    /// More records would be deleted than the guard allows.
    case tooManyDeletes = "sync.too-many-deletes"
    /// The store could not be read or written.
    case store = "sync.store"
    /// The org could not be reached, or did not let us in.
    case org = "sync.org"
    /// No sync has this id or name.
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
  /// What is wrong; never a record's values.
  public var message: String
  /// What to do about it.
  public var fix: String?
  /// The sync that failed, where one is known.
  public var syncName: String?

  /// What the org or the way to it said, where that was the cause.
  package var cause: OrgError?
  /// Whether the cause is that the disk is full.
  package var isOfFullDisk = false

  /// The HTTP status of the org's answer, where that was the cause.
  public var status: Int? { cause?.status }
  /// The org's `errorCode`, where that was the cause.
  public var errorCode: String? { cause?.code }
  /// True when the login failed or the session was revoked: somebody must log in again.
  public var isAuthentication: Bool { cause?.kind == .authentication }

  /// Describes a failure.
  public init(_ code: Code, _ message: String, fix: String? = nil, syncName: String? = nil) {
    self.code = code
    self.message = message
    self.fix = fix
    self.syncName = syncName
  }

  /// A failure that the org, or the way to it, is the cause of.
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

  /// A failure of a store, or of the disk that it is on; `place` is the file, where the error does not name it.
  package init(store error: any Error, at place: String? = nil) {
    self.init(.store, (place.map { "\($0): " } ?? "") + "\(error)")
    isOfFullDisk = (error as? StoreError)?.isFull ?? (error as? SystemError)?.isFull ?? false
  }

  /// The error, told of a sync unless it is of one already.
  package func of(_ syncName: String) -> SyncError {
    var error = self
    error.syncName = error.syncName ?? syncName
    return error
  }

  /// One sentence: the sync, what is wrong, what to do.
  public var description: String {
    let sync = syncName.map { "sync \"\($0)\": " } ?? ""
    return sync + message + (fix.map { "; \($0)" } ?? "") + " [\(code.rawValue)]"
  }
}

extension SyncError {
  /// Runs what works on a store; a failure that is none of a sync is one of the store, but for a page that cannot
  /// be read: the org, or what stands before it, has sent that.
  package static func inStore<T>(_ body: () throws -> T) throws(SyncError) -> T {
    do { return try body() } catch let error as SyncError { throw error } catch {
      if case .recordWithoutID(_, _, let path) = error as? StoreError,
        path != TargetFields().idFieldName
      {
        throw SyncError(
          .definition, "\(error)", fix: "select only records that have it: WHERE \(path) != null")
      }
      if let error = error as? StoreError, error.isAboutPage {
        throw SyncError(.badResponse, "\(error)")
      }
      throw SyncError(store: error)
    }
  }

  /// Runs what reads a query; one that cannot be used is a wrong definition.
  static func inQuery<T>(_ body: () throws -> T) throws(SyncError) -> T {
    do { return try body() } catch let error as SOQLError {
      throw SyncError(.definition, error.message, fix: error.fix)
    } catch {
      throw (error as? SyncError) ?? SyncError(.definition, "\(error)")
    }
  }

  /// Runs what asks an org; a failure that is none of a sync is the org's.
  static func inOrg<T>(_ body: () async throws -> T) async throws(SyncError) -> T {
    do { return try await body() } catch let error as SyncError { throw error } catch {
      guard let error = error as? OrgError else { throw SyncError(.org, "\(error)") }
      throw SyncError(error)
    }
  }

  /// Runs what reads an answer of the org; a failure says that `what` cannot be read.
  static func reading<T>(_ what: String, _ body: () throws -> T) throws(SyncError) -> T {
    do { return try body() } catch let error as SyncError { throw error } catch {
      throw SyncError(.badResponse, "\(what) cannot be read: \(error)")
    }
  }
}
