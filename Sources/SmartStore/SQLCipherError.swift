import Crypto
import SQLite
import System

/// The reason a file could not be sealed or unsealed.
///
/// No case contains a key or a passphrase.
package enum SQLCipherError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A file system operation failed.
  case system(SystemError)
  /// libcrypto failed.
  case crypto(CryptoError)
  /// The key is invalid.
  case invalidKey(String)
  /// The file to seal is not a plain SQLite file.
  case notPlain(path: String)
  /// The file to unseal is a plain SQLite file.
  case notSealed(path: String)
  /// The file to unseal cannot be a sealed store, by its length or its first bytes.
  case otherKind(path: String, reason: String)
  /// A `-wal` or a `-journal` next to the file has changes that are not in the file.
  case pending(path: String, companion: String)
  /// The file ends within a page, or before its last one.
  case truncated(path: String, page: Int, pages: Int)
  /// Neither the first nor the second page verifies.
  case wrongKey(path: String)
  /// A page was changed after sealing.
  case damagedPage(path: String, page: Int)
  /// The file had to be rebuilt with reserved bytes in its pages, and SQLite failed.
  case rebuild(path: String, reason: String)

  /// One sentence: the fault, the file and page, and what to do.
  package var description: String {
    switch self {
    case .system(let error): error.description
    case .crypto(let error): error.description
    case .invalidKey(let reason): reason
    case .notPlain(let path):
      "\(path) is not a plain SQLite file; it is already sealed, or of another type"
    case .notSealed(let path):
      "\(path) is not sealed, or is sealed with a plain header (then specify its salt)"
    case .otherKind(let path, let reason): "\(path) \(reason)"
    case .pending(let path, let companion):
      "\(companion) has changes that are not in \(path) yet; open and close the store, "
        + "or run PRAGMA wal_checkpoint(TRUNCATE), then try again"
    case .truncated(let path, let page, let pages):
      "\(path) is truncated in page \(page)"
        + (pages >= page ? " of \(pages)" : "") + "; fetch it again"
    case .wrongKey(let path):
      "page 1 of \(path) does not verify with this passphrase: it was sealed with another one, "
        + "another number of KDF iterations or another header, or it is damaged"
    case .damagedPage(let path, let page):
      "page \(page) of \(path) is damaged: it was changed after sealing; fetch the file again"
    case .rebuild(let path, let reason):
      "\(path) cannot be rebuilt with \(StorePages.reservedBytes) reserved bytes per page: \(reason)"
    }
  }

  /// The fix, if the description does not contain it.
  package var fix: String? {
    switch self {
    case .system(let error) where error.isAlreadyThere:
      "name another file with --out, or move that one away"
    case .notPlain: "name a plain store; attache store unseal makes one from a sealed store"
    case .otherKind: "name a sealed store; if it is one, copy it again"
    case .wrongKey:
      "give the passphrase that the store was sealed with, and its --kdf-iterations and --salt if they "
        + "were not the defaults"
    default: nil
    }
  }

  /// Whether a file is at fault, rather than the disk or the caller.
  package var isDamage: Bool {
    switch self {
    case .otherKind, .truncated, .wrongKey, .damagedPage: true
    default: false
    }
  }

  /// Runs `body` and wraps errors of lower layers in an `SQLCipherError`.
  static func mapping<T>(_ path: String, _ body: () throws -> T) throws(SQLCipherError) -> T {
    do {
      return try body()
    } catch let error as SQLCipherError {
      throw error
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as CryptoError {
      throw .crypto(error)
    } catch let error as SQLiteError {
      throw .rebuild(path: path, reason: error.explanation)
    } catch {
      throw .rebuild(path: path, reason: "\(error)")
    }
  }
}
