import Crypto
import SQLite
import System

/// Why a file could not be sealed or unsealed.
///
/// No case carries a key or a passphrase.
package enum SQLCipherError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file system.
  case system(SystemError)
  /// libcrypto.
  case crypto(CryptoError)
  /// The key cannot be one.
  case invalidKey(String)
  /// What was to be sealed is no plain SQLite file.
  case notPlain(path: String)
  /// What was to be unsealed is a plain SQLite file.
  case notSealed(path: String)
  /// A `-wal` or a `-journal` stands beside the file, with changes that are not in it.
  case pending(path: String, companion: String)
  /// The file ends within a page, or before its last one.
  case truncated(path: String, page: Int, pages: Int)
  /// The first page does not verify, nor does the second.
  case wrongKey(path: String)
  /// A page is not as it was sealed.
  case damagedPage(path: String, page: Int)
  /// The file had to be rebuilt with room in its pages, and SQLite refused.
  case rebuild(path: String, reason: String)

  /// One sentence: what is wrong, in which file and page, and what to do.
  package var description: String {
    switch self {
    case .system(let error): error.description
    case .crypto(let error): error.description
    case .invalidKey(let reason): reason
    case .notPlain(let path):
      "\(path) is no plain SQLite file; it is sealed already, or something else"
    case .notSealed(let path):
      "\(path) is not sealed, or sealed with a plain header (give its salt then)"
    case .pending(let path, let companion):
      "\(companion) holds changes that are not in \(path) yet; open and close the store, "
        + "or run PRAGMA wal_checkpoint(TRUNCATE), then try again"
    case .truncated(let path, let page, let pages):
      "\(path) is cut off in page \(page)"
        + (pages >= page ? " of \(pages)" : "") + "; fetch it again"
    case .wrongKey(let path):
      "page 1 of \(path) does not verify under this passphrase: it was sealed with another one, "
        + "another number of KDF iterations or another header, or is damaged"
    case .damagedPage(let path, let page):
      "page \(page) of \(path) is damaged: it is not as it was sealed; fetch the file again"
    case .rebuild(let path, let reason):
      "\(path) cannot be rebuilt with \(StorePages.reservedBytes) bytes of room a page: \(reason)"
    }
  }

  /// Whether a file is to blame, as against the disk or the caller.
  package var isDamage: Bool {
    switch self {
    case .truncated, .wrongKey, .damagedPage: true
    default: false
    }
  }

  /// Runs `body` and turns what the layers below throw into a `SQLCipherError`.
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
