/// A directory whose content attache may replace, because a file in it says that attache made it.
///
/// Every command that empties a directory which a user names, or writes over files in it, goes through here. Without
/// the marker only a directory that does not exist or has nothing to lose is taken.
package struct MarkedDirectory: Sendable, Hashable {
  /// The file that marks a directory.
  package static let markerName = ".attache-made"

  /// The directory; a link to one is followed.
  package let path: String
  /// The command that makes it, as its marker has it: `attache demo`.
  package let maker: String
  /// The names that are written; nil for a directory that is emptied.
  package let names: Set<String>?

  /// A directory that `maker` writes `names` into, or empties.
  package init(_ path: String, maker: String, names: Set<String>? = nil) {
    (self.path, self.maker, self.names) = (path, maker, names)
  }

  /// Why a directory is not taken.
  package struct Foreign: Error, Sendable, Hashable, CustomStringConvertible {
    /// The directory.
    package let path: String
    /// The command that would have replaced what is there.
    package let maker: String
    /// What is there: a name in the directory, or the directory's own where it is none.
    package let found: String

    /// One sentence.
    package var description: String {
      "\(maker) did not make \(path), and would remove or replace \(found) there"
    }

    /// What to do.
    package var fix: String {
      "name another directory, or move this one away; nothing was changed"
    }
  }

  private var marker: String { path + "/" + Self.markerName }
  private var mark: [UInt8] { Array("made by \(maker)\n".utf8) }

  /// Refuses a directory with content that attache did not make.
  ///
  /// - Throws: `Foreign`, or `SystemError` where it cannot be read.
  package func check() throws {
    guard Files.exists(path) else { return }
    guard Files.isDirectory(path) else {
      throw Foreign(path: path, maker: maker, found: "a file of that name")
    }
    if isMarked { return }
    let lost = try Files.list(path).first { names?.contains($0) ?? true }
    if let lost { throw Foreign(path: path, maker: maker, found: lost) }
  }

  /// Checks the directory, makes it where it is missing, and marks it; what is there stays.
  package func claim() throws {
    try check()
    try Files.makeDirectory(path)
    if !isMarked { try DurableFile.write(mark, to: marker) }
  }

  /// Checks the directory, removes what is in it, and claims it.
  package func empty() throws {
    try check()
    if Files.isDirectory(path) {
      // The marker stays as long as anything does: an interrupted removal can be repeated.
      for name in try Files.list(path) where name != Self.markerName {
        try Files.remove(path + "/" + name)
      }
    }
    try claim()
  }

  private var isMarked: Bool {
    (try? Files.readRegular(marker, limit: 256).bytes) == mark
  }
}
