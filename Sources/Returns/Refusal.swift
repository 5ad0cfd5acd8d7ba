import System

/// The reason why a return was not accepted.
///
/// In the quarantine, it is stored in a `ReasonFile`.
package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The stable codes of the reasons.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The archive cannot be read, or is malicious.
    case archive = "return.archive"
    /// The archive does not contain a bundle.
    case notABundle = "return.not-a-bundle"
    /// The bundle does not match its manifest.
    case contents = "return.contents"
    /// The content exceeds the limits.
    case tooLarge = "return.too-large"
    /// The return has a rollback journal.
    case journal = "return.journal"
    /// The file is not an SQLite file. It may be encrypted.
    case notADatabase = "return.not-a-database"
    /// The file is sealed, but not with the pipeline's passphrase.
    case wrongKey = "return.wrong-key"
    /// The file is sealed, and its last changes are in a `-wal`.
    case sealedLog = "return.sealed-log"
    /// The database is damaged.
    case damaged = "return.damaged"
    /// The database contains something that no SmartStore has.
    case notAStore = "return.not-a-store"
    /// The store has no stamp.
    case noStamp = "return.no-stamp"
    /// The stamp was not issued by this pipeline.
    case forgedStamp = "return.forged-stamp"
    /// The bundle was issued before the ledger was lost.
    case earlierLedger = "return.earlier-ledger"
    /// The bundle has expired, and the pipeline does not accept expired ones.
    case expired = "return.expired"
    /// The return belongs to another organization.
    case otherOrg = "return.other-org"
    /// The return belongs to another pipeline.
    case otherPipeline = "return.other-pipeline"
    /// The return belongs to a user without a snapshot in this pipeline.
    case otherUser = "return.other-user"
    /// The layout does not match the platform of the stamp.
    case otherPlatform = "return.other-platform"
    /// The stores or the manifest contradict each other.
    case contradiction = "return.contradiction"
    /// The pipeline does not accept this kind of return.
    case notAccepted = "return.not-accepted"
    /// The `-wal` is damaged, belongs to another file, or is not a regular file.
    case log = "return.log"
    /// The return could not be read, for an unexpected reason.
    case failed = "return.failed"
    /// Left in the inbox: the name is not valid text.
    case name = "return.name"
    /// Left in the inbox: a companion file without its store.
    case alone = "return.alone"
    /// Left in the inbox: no permission to read the file.
    case unreadable = "return.unreadable"
    /// Left in the inbox: the file cannot be copied.
    case notCopied = "return.not-copied"
    /// Left in the inbox: the file is being written.
    case changing = "return.changing"
    /// Taken, and left in the inbox: no permission to remove the file.
    case notRemoved = "return.not-removed"
    /// Left in `processing`: no run created the file.
    case unknown = "return.unknown"
  }

  /// The code of the reason.
  package let code: Code
  /// One sentence that names the fault and the file.
  package let sentence: String
  /// The suggested fix.
  package let fix: String

  /// Creates a refusal from its parts.
  package init(_ code: Code, _ sentence: String, fix: String) {
    self.code = code
    // The sentence quotes untrusted names, which must not contain control characters or line
    // breaks.
    self.sentence = VisibleText.marked(sentence)
    self.fix = fix
  }

  /// The sentence, the fix and the code.
  package var description: String { "\(sentence); \(fix) [\(code.rawValue)]" }
}
