/// A directory whose content attache may replace, because a marker file shows that attache created
/// it.
///
/// Every command that empties a directory named by a user, or overwrites files in it, uses this
/// type. Without the marker, only a missing or empty directory is accepted.
package struct MarkedDirectory: Sendable, Hashable {
  /// The name of the marker file.
  package static let markerName = ".attache-made"

  /// The directory; a link to one is followed.
  package let path: String
  /// The command that creates it, as in the marker: `attache demo`.
  package let maker: String

  /// A directory that `maker` writes files into, or empties.
  package init(_ path: String, maker: String) {
    (self.path, self.maker) = (path, maker)
  }

  /// Thrown if attache did not create the directory.
  package struct Foreign: Error, Sendable, Hashable, CustomStringConvertible {
    package let path: String
    /// The command that would have replaced the content.
    package let maker: String
    /// A name in the directory, or the name of the file that is there instead of a directory.
    package let found: String

    /// One sentence: the command, the directory and what is in danger.
    package var description: String {
      "\(maker) did not create \(path), and would remove or replace \(found) there"
    }

    /// The fix.
    package var fix: String {
      "name another directory, or move this one away; nothing was changed"
    }
  }

  private var marker: String { path + "/" + Self.markerName }
  private var mark: [UInt8] { Array("made by \(maker)\n".utf8) }
  private static func line(naming subject: String) -> [UInt8] { Array("for \(subject)\n".utf8) }

  /// Rejects a directory with content that attache did not create.
  ///
  /// - Throws: `Foreign`, or `SystemError` if the directory cannot be read.
  package func check() throws {
    // What `..` leads to after a missing name is there once the name is.
    let path = Files.exists(self.path) ? self.path : Files.withoutParents(self.path)
    guard Files.exists(path) else { return }
    guard Files.isDirectory(path) else {
      throw Foreign(path: path, maker: maker, found: "a file of that name")
    }
    if isMarked { return }
    if let lost = try Files.list(path).first {
      throw Foreign(path: path, maker: maker, found: lost)
    }
  }

  /// Checks the directory, creates it if it is missing, and marks it; its content stays.
  package func claim() throws {
    try check()
    try Files.makeDirectory(path)
    // A path may lead elsewhere now that its directories exist.
    try check()
    if !isMarked { try DurableFile.write(mark, to: marker) }
  }

  /// Claims the directory for as long as the returned lock is kept.
  ///
  /// - Throws: `LockError.held` while another process keeps it.
  package func hold() throws -> FileLock {
    try claim()
    return try FileLock(marker, note: nil)
  }

  /// Checks the directory, removes its content, and marks it.
  package func empty() throws {
    try check()
    if Files.isDirectory(path) {
      // The marker is removed last, so that an interrupted removal can be repeated.
      for name in try Files.list(path) where name != Self.markerName {
        try Files.remove(path + "/" + name)
      }
    }
    try claim()
  }

  /// Writes into the marker what the directory will have, such as an org's data.
  package func name(_ subject: String) throws(SystemError) {
    // Written in the file itself, which may be locked.
    let file = try FileDescriptorHandle.updating(marker)
    try file.write(mark + Self.line(naming: subject))
  }

  /// Removes the marker of any command, so that none empties the directory, unless the marker names
  /// `subject`.
  package static func unmark(_ path: String, unlessFor subject: String) throws(SystemError) {
    let marker = path + "/" + markerName
    if content(of: marker)?.suffix(line(naming: subject).count) == line(naming: subject)[...] {
      return
    }
    try Files.remove(marker)
  }

  private static func content(of marker: String) -> [UInt8]? {
    try? Files.readRegular(marker, limit: 256).bytes
  }

  private var isMarked: Bool { Self.content(of: marker)?.starts(with: mark) == true }
}
