import Archive
import Bundles
import MobileSync
import SQLite
import SmartStore
import Snapshots
import System

/// Classifies errors that are caused by this machine rather than by a file: no space, no
/// descriptors, no memory, a failing disk.
enum MachineTrouble {
  case certain
  /// The machine may be at fault: a crafted file can make SQLite report a disk error.
  case possible

  /// Classifies an error; nil if the machine is not at fault.
  init?(of error: any Error) {
    if Self.isFull(error) {
      self = .certain
      return
    }
    switch error {
    case let error as SystemError:
      guard error.isOfTheMachine else { return nil }
      self = .certain
    case let error as SQLiteError:
      guard error.isOfTheMachine else { return nil }
      self = .possible
    case StoreError.database(let path, let code, _):
      self.init(of: SQLiteError(code: code, path: path))
    case BundleError.system(let error), SnapshotError.system(let error),
      BundleError.sealing(.system(let error)):
      self.init(of: error)
    case BundleError.snapshot(let error): self.init(of: error)
    case SnapshotError.store(let error): self.init(of: error)
    case SnapshotError.database(let error): self.init(of: error)
    default: return nil
    }
  }

  /// Whether an error of any layer means that the disk, or the owner's quota on it, is full.
  ///
  /// All code that checks for a full disk uses this function, so the user gets the same message for
  /// each file.
  static func isFull(_ error: any Error) -> Bool {
    switch error {
    case let error as SystemError: error.isFull
    case let error as SQLiteError: error.isFull
    case let error as StoreError: error.isFull
    case let error as SyncError: error.isOfFullDisk
    case let error as ArchiveError:
      SystemError(operation: "write", path: error.path, errno: error.errno).isFull
    case BundleError.system(let error), SnapshotError.system(let error),
      BundleError.sealing(.system(let error)), SQLCipherError.system(let error):
      error.isFull
    case BundleError.archive(let error): isFull(error)
    case BundleError.snapshot(let error): isFull(error)
    case SnapshotError.store(let error): error.isFull
    case SnapshotError.database(let error): error.isFull
    case LockError.system(let error): error.isFull
    default: false
    }
  }

  /// Whether writing a small file in a directory fails too.
  static func isMet(in directory: String) -> Bool {
    let probe = DurableFile.temporaryName(for: directory + "/x")
    do throws(SystemError) {
      try DurableFile.write([UInt8](repeating: 0, count: 1 << 16), to: probe)
      try Files.remove(probe)
      return false
    } catch {
      return true
    }
  }
}
