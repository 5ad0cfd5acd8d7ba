import Glibc

/// The status of a name in the file system.
package struct FileStatus: Sendable, Hashable {
  /// The type of a file.
  package enum Kind: Sendable {
    case regular, directory, symbolicLink, other

    /// The type with its article, for messages.
    package var words: String {
      switch self {
      case .regular: "a regular file"
      case .directory: "a directory"
      case .symbolicLink: "a symbolic link"
      case .other: "a pipe, a socket or a device"
      }
    }
  }

  package let kind: Kind
  /// The size in bytes.
  package let size: Int64
  /// The permission bits.
  package let mode: UInt32
  /// The ID of the owner.
  package let owner: UInt32
  /// The last change of the content, in nanoseconds since 1970.
  package let modifiedNanoseconds: Int64
  /// The last change of the content, name or permissions, in nanoseconds since 1970; users cannot
  /// set it.
  package let changedNanoseconds: Int64
  /// The device, which together with the inode identifies the file regardless of its name.
  package let device: UInt64
  package let inode: UInt64
  /// The number of names of the file.
  package let links: Int

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      default: .other
      }
    size = Int64(status.st_size)
    mode = UInt32(status.st_mode) & 0o7777
    owner = status.st_uid
    modifiedNanoseconds =
      Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    changedNanoseconds =
      Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    links = Int(status.st_nlink)
  }
}
