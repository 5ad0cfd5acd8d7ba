import Archive
import Crypto
import SQLite
import SmartStore
import Snapshots
import System

/// The reason a bundle could not be written or read.
package enum BundleError: Error, Sendable, CustomStringConvertible {
  /// The archive failed.
  case archive(ArchiveError)
  /// A file system operation failed.
  case system(SystemError)
  /// A generation or the provenance of a store is invalid.
  case snapshot(SnapshotError)
  /// A store could not be sealed.
  case sealing(SQLCipherError)
  /// A file could not be read to compute its digest.
  case crypto(CryptoError)
  /// The archive is intact but not a bundle.
  case notABundle(path: String, reason: String)
  /// A newer version of attache wrote the bundle.
  case newerFormat(path: String, format: Int)
  /// A file in the bundle does not match the manifest.
  case damaged(path: String, file: String, reason: String)
  /// The signature of the manifest is missing, damaged or not one of an allowed signer.
  case signature(SignatureError)
  /// A store does not take a delta: it is not the one that the delta is for, or it has changes.
  ///
  /// `isUnsent` says whether they must be returned first.
  case unsuitable(path: String, reason: String, isUnsent: Bool = false)
  /// A bundle or a delta is sealed, and the passphrase is missing or another one.
  case locked(path: String, isKeyGiven: Bool)
  /// The bundle to write is invalid.
  case invalid(String)

  /// Whether a file is damaged, rather than unreadable or of another type.
  package var isDamage: Bool {
    switch self {
    case .archive(let error): error.kind != .file
    case .notABundle, .damaged, .signature: true
    case .sealing(let error): error.isDamage
    case .snapshot(let error): error.isDamage
    case .system, .crypto, .newerFormat, .unsuitable, .locked, .invalid: false
    }
  }

  /// The fix for a damaged bundle; nil for other faults.
  package var fix: String? {
    switch self {
    case .damaged: "copy it again; if it is still damaged, pack it again"
    case .archive(let error) where error.isOtherFormat: "name a bundle; if it is one, copy it again"
    case .archive where isDamage: "copy it again; if it is still damaged, pack it again"
    case .notABundle: "name a bundle that attache pack has written, or copy it again"
    case .unsuitable(_, _, isUnsent: true):
      "return it first, by the rules of docs/app-integration.md"
    case .unsuitable: "install the bundle instead, by the rules of docs/app-integration.md"
    case .locked(_, isKeyGiven: false): "give --passphrase-env NAME or --passphrase-file PATH"
    case .locked:
      "give the passphrase of pack.seal that the bundle was packed with: base64 of 32 bytes"
    default: nil
    }
  }

  /// One sentence: the fault and the file.
  package var description: String {
    switch self {
    case .archive(let error): error.description
    case .system(let error): error.description
    case .crypto(let error): error.description
    case .sealing(let error): error.description
    case .snapshot(let error): error.description
    case .notABundle(let path, let reason): "\(path) is not a bundle: \(reason)"
    case .newerFormat(let path, let format):
      SnapshotError.newerFormat(path: path, format: format).description
    case .damaged(let path, let file, let reason):
      "\(path) is damaged: \(file) \(reason)"
    case .signature(let error): error.description
    case .unsuitable(let path, let reason, _): "\(path) does not take the delta: it \(reason)"
    case .locked(let path, isKeyGiven: false):
      "the archive of \(path) is sealed, and no passphrase is given"
    case .locked(let path, _): "\(path) is sealed with another passphrase"
    case .invalid(let reason): reason
    }
  }

  /// Runs `body` and wraps errors of lower layers in a `BundleError`.
  package static func mapping<T>(_ body: () throws -> T) throws(BundleError) -> T {
    do {
      return try body()
    } catch let error as BundleError {
      throw error
    } catch let error as SnapshotError {
      throw .snapshot(error)
    } catch let error as StoreError {
      throw .snapshot(.store(error))
    } catch let error as SQLiteError {
      throw .snapshot(.database(error))
    } catch let error as ArchiveError {
      throw .archive(error)
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as SQLCipherError {
      throw .sealing(error)
    } catch let error as CryptoError {
      throw .crypto(error)
    } catch let error as SignatureError {
      throw .signature(error)
    } catch {
      throw .invalid("\(error)")
    }
  }
}
