import System

/// Why a return was not accepted: a `ReasonFile` beside it says so in the quarantine.
package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// Stable names of the reasons.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The archive cannot be read, or was made to do harm.
    case archive = "return.archive"
    /// The archive holds no bundle.
    case notABundle = "return.not-a-bundle"
    /// The bundle is not as its manifest says.
    case contents = "return.contents"
    /// There is more in it than is allowed.
    case tooLarge = "return.too-large"
    /// A rollback journal came with it.
    case journal = "return.journal"
    /// It is no SQLite file; it may be encrypted.
    case notADatabase = "return.not-a-database"
    /// It is sealed, and not with the pipeline's passphrase.
    case wrongKey = "return.wrong-key"
    /// It is sealed, and its last changes stand in a `-wal`.
    case sealedLog = "return.sealed-log"
    /// The database is damaged.
    case damaged = "return.damaged"
    /// It has something in it that no SmartStore has.
    case notAStore = "return.not-a-store"
    /// It has no stamp.
    case noStamp = "return.no-stamp"
    /// Its stamp was not issued by this pipeline.
    case forgedStamp = "return.forged-stamp"
    /// Its bundle was issued before the ledger was lost.
    case earlierLedger = "return.earlier-ledger"
    /// Its bundle is good no more, and the pipeline takes none of those.
    case expired = "return.expired"
    /// It belongs to another organization.
    case otherOrg = "return.other-org"
    /// It belongs to another pipeline.
    case otherPipeline = "return.other-pipeline"
    /// It belongs to a user who has no snapshot here.
    case otherUser = "return.other-user"
    /// Its layout is not that of its stamp.
    case otherPlatform = "return.other-platform"
    /// Its stores or its manifest contradict each other.
    case contradiction = "return.contradiction"
    /// The pipeline does not take this kind of return.
    case notAccepted = "return.not-accepted"
    /// Its `-wal` is damaged, belongs to another file, or is no file.
    case log = "return.log"
    /// It could not be read, for a reason that nobody foresaw.
    case failed = "return.failed"
    /// Left in the inbox: its name is no text.
    case name = "return.name"
    /// Left in the inbox: a store's companion without the store.
    case alone = "return.alone"
    /// Left in the inbox: it may not be read.
    case unreadable = "return.unreadable"
    /// Left in the inbox: no copy of it can be written.
    case notCopied = "return.not-copied"
    /// Left in the inbox: somebody is at it.
    case changing = "return.changing"
    /// Taken, and left in the inbox: it may not be removed.
    case notRemoved = "return.not-removed"
    /// Left in `processing`: nobody took it.
    case unknown = "return.unknown"
  }

  /// The reason's stable name.
  package let code: Code
  /// One sentence: what is wrong, and in which file.
  package let sentence: String
  /// What to do about it.
  package let fix: String

  /// Makes a refusal of its parts.
  package init(_ code: Code, _ sentence: String, fix: String) {
    self.code = code
    // It quotes names from outside: nothing in them may move a terminal's cursor or end a line.
    self.sentence = VisibleText.marked(sentence)
    self.fix = fix
  }

  /// The sentence, the mend and the code.
  package var description: String { "\(sentence); \(fix) [\(code.rawValue)]" }
}
