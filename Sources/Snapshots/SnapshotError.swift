import Archive
import Crypto
import SQLite
import SmartStore
import System

/// Why a generation, or what belongs to one, could not be written or read.
package enum SnapshotError: Error, Sendable, CustomStringConvertible {
  /// The file system.
  case system(SystemError)
  /// A store.
  case store(StoreError)
  /// A file of issued records.
  case database(SQLiteError)
  /// A file of issued records as data directories of format 1 have it.
  case archive(ArchiveError)
  /// A file that could not be read for its digest.
  case crypto(CryptoError)
  /// It was made by a newer program.
  case newerFormat(path: String, format: Int)
  /// A file of it is not what was published.
  case damaged(path: String, file: String, reason: String)
  /// What was to be written makes no sense.
  case invalid(String)

  /// Whether a file is damaged, as against unreadable or of another kind.
  package var isDamage: Bool {
    switch self {
    case .damaged: true
    case .database(let error): error.isDamage
    case .archive(let error): error.kind != .file
    case .system, .store, .crypto, .newerFormat, .invalid: false
    }
  }

  /// One sentence: what is wrong, in which file, and what to do.
  package var description: String {
    switch self {
    case .system(let error): error.description
    case .store(let error): error.description
    case .database(let error): error.description
    case .archive(let error): error.description
    case .crypto(let error): error.description
    case .newerFormat(let path, let format):
      "\(path) has format \(format), which is newer than this program; use a newer one"
    case .damaged(let path, let file, let reason):
      "\(path) is damaged: \(file) \(reason); bring it back from a backup, or prime again"
    case .invalid(let reason): reason
    }
  }

  /// Runs `body` and turns what the layers below throw into a `SnapshotError`.
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
    } catch let error as ArchiveError {
      throw .archive(error)
    } catch let error as CryptoError {
      throw .crypto(error)
    } catch {
      throw .invalid("\(error)")
    }
  }
}
