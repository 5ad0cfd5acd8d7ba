import Bundles
import HTTP
import JSON
import Ledger
import MobileSync
import ObjectStore
import Reconciliation
import SQLite
import Salesforce
import SmartStore
import Snapshots
import System

extension PipelineError {
  /// Describes an error of any module for the user of a pipeline.
  package init(describing error: any Error) {
    switch error {
    case let error as PipelineError: self = error
    case let error as WorkFailure: self = error.error
    case _ where MachineTrouble.isFull(error): self.init(fullDisk: error)
    case let error as OrgError: self.init(org: error)
    case let error as SyncError: self.init(sync: error)
    case let error as Problems:
      let problem = error.ofFile
      self.init(
        .configuration, "configuration", error.summary, location: problem?.file,
        reason: problem == nil ? error.description : nil,
        fix: problem.flatMap { $0.fix.isEmpty ? nil : $0.fix })
    case let error as SecretError:
      self.init(
        .configuration, "secret", "a secret cannot be read", reason: error.message,
        fix: error.fix)
    case let error as LedgerError: self.init(state: error)
    case let error as CorrelationError:
      self.init(
        .configuration, "reconcile.correlation-field", "a correlation field is not suitable",
        reason: error.description,
        fix:
          "make it a text field of 48 or more characters, unique, an external ID, and visible to "
          + "the users; or remove it from reconcile.correlationField")
    case BundleError.signature(let error), let error as SignatureError:
      self.init(.damaged, "bundle.signature", error.message, fix: error.fix)
    case let error as AllowedSigners.FileFault:
      self.init(
        .configuration, "signers", "\(error)",
        fix: "write lines as attache key make prints them: NAME [OPTIONS] TYPE KEY")
    case let error as ObjectStoreError: self.init(store: error)
    case let error as BundleError:
      self.init(
        error.isDamage ? .damaged : .failed, "bundle", error.description, fix: error.fix)
    case let error as SnapshotError:
      self.init(error.isDamage ? .damaged : .failed, "snapshot", error.description)
    case let error as MarkedDirectory.Foreign: self.init(error)
    case let error as SystemError: self.init(disk: error)
    case let error as StoreError:
      self.init(
        error.isDamage ? .damaged : .failed, "store", error.description,
        fix: error.unreadablePath.map(Self.unsealing))
    case let error as HTTPError where error.phase == .beforeSend && !error.url.contains("://"):
      self.init(
        .failed, "listen", error.message, fix: "name another port; port 0 takes a free one")
    case let error as SQLCipherError:
      self.init(error.isDamage ? .damaged : .failed, "seal", error.description, fix: error.fix)
    case let error as SQLiteError where error.isDamage && DataDirectory.isLedger(error.path):
      self.init(
        .configuration, "ledger.damaged", "the ledger is damaged", location: error.path,
        reason: "\(error.message) (SQLite code \(error.code))",
        fix:
          "attache recover PIPELINE continues: what may have been sent is first looked up in the "
          + "org; if there is a backup, restore its ledger before that")
    case let error as SQLiteError:
      self.init(
        error.isDamage ? .damaged : .failed, "sqlite", "\(error)",
        fix: error.isDisk
          ? "check the disk, and that the user's file size limit (ulimit -f) is large enough" : nil)
    case is CancellationError:
      self.init(
        .tryLater, "run.cancelled", Self.stoppedText, fix: Self.goesOnText)
    default: self.init(.failed, "failed", "\(error)")
    }
  }

  /// A file or directory that the system did not read or write.
  private init(disk error: SystemError) {
    var (text, fix) = ("\(error)", "check the path, its permissions and the free space")
    if error.isFileInPlace {
      text = "\(error.path) is a file or below one, and a directory is needed"
      fix = "name a directory, or move the file away"
    } else if error.isDirectoryMissing {
      text = "the directory \(Files.parent(of: error.path) ?? ".") does not exist"
      fix = "create it"
    }
    self.init(.failed, "disk", text, fix: fix)
  }

  /// A directory that a command would empty or overwrite, and that attache did not create.
  package init(_ error: MarkedDirectory.Foreign) {
    self.init(
      .configuration, "directory.foreign", error.description, location: error.path, fix: error.fix)
  }

  /// Whether the disk or a store caused the error, rather than the org's answer.
  static func isOurs(_ error: any Error) -> Bool {
    switch error {
    case is OrgError: false
    case let error as WorkFailure: error.isOurs
    case let error as SyncError: error.code == .store
    default: true
    }
  }

  /// Whether the work was cancelled.
  static func isCancellation(_ error: any Error) -> Bool {
    switch error {
    case is CancellationError: true
    case let error as OrgError: error.kind == .cancelled
    case let error as SyncError: error.code == .cancelled
    default: false
    }
  }

  private init(org error: OrgError) {
    let kind: Kind
    let code: String
    var fix: String?
    switch error.kind {
    case .unreachable, .timeout:
      (kind, code) = (.tryLater, "org.unreachable")
      fix = "check org.url and the network, and run it again"
    case .certificate:
      (kind, code) = (.tryLater, "org.certificate")
      fix = "check org.url, the org's certificate, org.caFile and this machine's clock"
    case .limit:
      (kind, code) = (.tryLater, "org.limit")
      fix =
        error.code == APIBudget.runCode
        ? "raise --api-budget (or org.apiBudget.perRun), and \(Self.goesOnText)" : Self.afterWindow
    case .cancelled: (kind, code) = (.tryLater, "run.cancelled")
    case .authentication:
      (kind, code) = (.authentication, "org.login")
      fix = "check the spelling of the user name, the connected app, and that the user may use it"
    case .permission:
      (kind, code) = (.authentication, "org.permission")
      fix = "grant the user access"
    case .configuration: (kind, code) = (.configuration, "org.configuration")
    case .refused: (kind, code) = (.failed, "org.refused")
    case .notFound: (kind, code) = (.failed, "org.not-found")
    case .invalidResponse:
      // Caused by neither the disk nor a defect: a maintenance page, a proxy, or an address that is
      // not the org's.
      (kind, code) = (.tryLater, "org.invalidResponse")
      fix = Self.badAnswerFix
    case .tooLarge:
      (kind, code) = (.failed, "org.too-large")
      fix = "remove the object's long fields from the sync"
    case .locatorExpired: (kind, code) = (.tryLater, "org.cursor-expired")
    }
    let status = [error.status.map(String.init), error.code].compactMap { $0 }
    let answer = status.isEmpty ? "" : " (\(status.joined(separator: " ")))"
    self.init(
      kind, code, Self.sentence(error), location: error.request + answer,
      reason: error.kind == .configuration ? nil : error.message, fix: fix)
    address = error.address
  }

  /// The fix for a file that SQLite cannot read, which may be a sealed store.
  package static func unsealing(_ path: String) -> String {
    "if it is a sealed store, read a plain copy: attache store unseal \(ShellWord.quoted(path)) "
      + "--out PLAIN --passphrase-file KEY"
  }

  /// The fix for an exhausted limit of the org.
  private static let afterWindow =
    "run it again, to resume it, when the org's 24-hour window has freed requests"

  /// The fix for an answer that cannot come from an org.
  private static let badAnswerFix =
    "check org.url and the network devices between here and the org, and run it again"

  /// Another run holds the lock.
  init(lockedBy holder: String, at path: String) {
    self.init(
      .locked, "run.locked", "another run of this pipeline is active", location: path,
      reason: "the lock is held by \(holder)",
      fix: "wait until it finishes; the lock is released when its process ends")
  }

  /// A write that failed because the disk is full.
  private init(fullDisk error: any Error) {
    self.init(
      .failed, Self.diskFullCode, "the disk is full", reason: "\(error)",
      fix: "\(Self.makingRoom()); then \(Self.goesOnText)")
  }

  static let diskFullCode = "disk.full"
  /// The fix for a full disk.
  static func makingRoom(_ pipeline: String = "PIPELINE") -> String {
    "attache status \(pipeline) --disk shows the disk use, attache prune \(pipeline) frees space; or free "
      + "some by hand"
  }
  /// The fix for a run that was interrupted.
  package static let goesOnText = "run it again to resume it"
  private static let stoppedText = "the run was interrupted"

  private static func sentence(_ error: OrgError) -> String {
    switch error.kind {
    case .unreachable: "the org is unreachable"
    case .timeout: "the org did not answer in time"
    case .authentication: "the org refused the login"
    case .certificate: "the org's certificate is not trusted; nothing was sent to it"
    case .permission: "the org refused a permission"
    case .limit: "a request limit is reached"
    case .cancelled: stoppedText
    // No request was sent, so attache itself found the fault.
    case .configuration: error.message
    case .refused: "the org refused the request"
    case .notFound: "the org does not know the requested resource"
    case .invalidResponse: "the answer is not one of an org"
    case .tooLarge: "an answer of the org is too large, however little is requested"
    case .locatorExpired: "the org dropped the query while its pages were read"
    }
  }

  private init(sync error: SyncError) {
    let name =
      error.syncName.map { "sync \"\($0)\" failed" }
      ?? (error.code == .store ? "a store could not be read or written" : "a sync failed")
    if let cause = error.cause {
      let inner = PipelineError(org: cause)
      self.init(
        inner.kind, error.code.rawValue, name + ": " + inner.message, location: inner.location,
        reason: inner.reason,
        fix: error.fix ?? inner.fix)
      address = inner.address
      return
    }
    var fix = error.fix
    let kind: Kind
    switch error.code {
    case .definition, .notYet: kind = .configuration
    case .cancelled: kind = .tryLater
    case .badResponse:
      kind = .tryLater
      fix = fix ?? Self.badAnswerFix
    default: kind = .failed
    }
    self.init(kind, error.code.rawValue, name, reason: error.message, fix: fix)
  }

  private init(state error: LedgerError) {
    switch error {
    case .foreignOrganization, .unsupportedVersion:
      self.init(.configuration, "ledger", error.description)
    default: self.init(.failed, "ledger", error.description)
    }
  }
}
