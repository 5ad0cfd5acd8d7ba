import Glibc

/// What the file system says of one name.
package struct FileStatus: Sendable, Hashable {
  /// What kind of thing the name is.
  package enum Kind: Sendable {
    case regular, directory, symbolicLink, other

    /// What it is called, with its article.
    package var words: String {
      switch self {
      case .regular: "a regular file"
      case .directory: "a directory"
      case .symbolicLink: "a symbolic link"
      case .other: "a pipe, a socket or a device"
      }
    }
  }

  /// What it is.
  package let kind: Kind
  /// Bytes.
  package let size: Int64
  /// The permission bits.
  package let mode: UInt32
  /// The user who owns it.
  package let owner: UInt32
  /// Nanoseconds since 1970 of the last change of content.
  package let modifiedNanoseconds: Int64
  /// Nanoseconds since 1970 of the last change of content, name or rights, which nobody can set.
  package let changedNanoseconds: Int64
  /// The device and the inode: the file's identity, whatever it is called.
  package let device: UInt64
  /// See `device`.
  package let inode: UInt64
  /// How many names the file has.
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
