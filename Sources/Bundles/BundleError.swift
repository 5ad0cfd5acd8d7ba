import Archive
import Crypto
import SmartStore
import Snapshots
import System

/// Why a bundle could not be written or read.
package enum BundleError: Error, Sendable, CustomStringConvertible {
  /// The archive itself.
  case archive(ArchiveError)
  /// The file system.
  case system(SystemError)
  /// A generation, or the provenance of a store.
  case snapshot(SnapshotError)
  /// A store that could not be sealed.
  case sealing(SQLCipherError)
  /// A file that could not be read for its digest.
  case crypto(CryptoError)
  /// The archive is whole, but no bundle.
  case notABundle(path: String, reason: String)
  /// The bundle was made by a newer program.
  case newerFormat(path: String, format: Int)
  /// A file in it is not what the manifest says.
  case damaged(path: String, file: String, reason: String)
  /// What was to be written makes no sense.
  case invalid(String)

  /// Whether a file is damaged, as against unreadable or of another kind.
  package var isDamage: Bool {
    switch self {
    case .archive(let error): error.kind != .file
    case .notABundle, .damaged: true
    case .sealing(let error): error.isDamage
    case .snapshot(let error): error.isDamage
    case .system, .crypto, .newerFormat, .invalid: false
    }
  }

  /// One sentence: what is wrong, in which file, and what to do.
  package var description: String {
    switch self {
    case .archive(let error): error.description
    case .system(let error): error.description
    case .crypto(let error): error.description
    case .sealing(let error): error.description
    case .snapshot(let error): error.description
    case .notABundle(let path, let reason): "\(path) is no bundle: \(reason)"
    case .newerFormat(let path, let format):
      SnapshotError.newerFormat(path: path, format: format).description
    case .damaged(let path, let file, let reason):
      "\(path) is damaged: \(file) \(reason); pack or fetch it again"
    case .invalid(let reason): reason
    }
  }

  /// Runs `body` and turns what the layers below throw into a `BundleError`.
  package static func mapping<T>(_ body: () throws -> T) throws(BundleError) -> T {
    do {
      return try body()
    } catch let error as BundleError {
      throw error
    } catch let error as SnapshotError {
      throw .snapshot(error)
    } catch let error as ArchiveError {
      throw .archive(error)
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as SQLCipherError {
      throw .sealing(error)
    } catch let error as CryptoError {
      throw .crypto(error)
    } catch {
      throw .invalid("\(error)")
    }
  }
}
