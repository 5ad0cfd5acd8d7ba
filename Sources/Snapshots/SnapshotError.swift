import Crypto
import SQLite
import SmartStore
import System

/// The reason a generation, or a file that belongs to one, could not be written or read.
package enum SnapshotError: Error, Sendable, CustomStringConvertible {
  /// A file system operation failed.
  case system(SystemError)
  /// A store operation failed.
  case store(StoreError)
  /// A file of issued records failed.
  case database(SQLiteError)
  /// A file could not be read to compute its digest.
  case crypto(CryptoError)
  /// A newer version of attache wrote it.
  case newerFormat(path: String, format: Int)
  /// A file of it was changed after publication.
  case damaged(path: String, file: String, reason: String)
  /// The data to write is invalid.
  case invalid(String)

  /// Whether a file is damaged, rather than unreadable or of another type.
  package var isDamage: Bool {
    switch self {
    case .damaged: true
    case .database(let error): error.isDamage
    case .system, .store, .crypto, .newerFormat, .invalid: false
    }
  }

  /// One sentence: the fault, the file and what to do.
  package var description: String {
    switch self {
    case .system(let error): error.description
    case .store(let error): error.description
    case .database(let error): error.description
    case .crypto(let error): error.description
    case .newerFormat(let path, let format):
      "\(path) has format \(format), which is newer than this version of attache; use a newer one"
    case .damaged(let path, let file, let reason):
      "\(path) is damaged: \(file) \(reason); restore it from a backup, or prime again"
    case .invalid(let reason): reason
    }
  }

  /// Runs `body` and wraps errors of lower layers in a `SnapshotError`.
  package static func mapping<T>(_ body: () throws -> T) throws(SnapshotError) -> T {
    do {
      return try body()
    } catch let error as SnapshotError {
      throw error
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as StoreError {
      throw .store(error)
    } catch let error as SQLiteError {
      throw .database(error)
    } catch let error as CryptoError {
      throw .crypto(error)
    } catch {
      throw .invalid("\(error)")
    }
  }
}
