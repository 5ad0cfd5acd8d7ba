/// A private directory for copies, in TMPDIR, or in `/tmp` if the variable is not set.
///
/// A process that is killed leaves its directory. The next process of the same user that makes one
/// removes it: a file in each directory is locked while its process lives.
package final class ScratchDirectory: Sendable {
  package let path: String
  /// Nil if the file system has no reliable locks; then no other process removes the directory.
  private let lock: FileLock?

  private static let markerName = ".attache-scratch"

  /// Creates the directory, and removes those of ended processes; the caller calls `remove`.
  package init(_ variables: [String: String]) throws(SystemError) {
    let place = variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    Self.removeAbandoned(in: place)
    path = DurableFile.temporaryName(for: place + "/attache")
    try Files.makeDirectory(path)
    lock = Self.mark(path)
  }

  /// Removes the directory with its content; if that fails, the next process does it.
  package func remove() {
    try? Files.remove(path)
    lock?.close()
  }

  /// Creates the marker file, which is locked before it has its name.
  private static func mark(_ directory: String) -> FileLock? {
    let marker = directory + "/" + markerName
    guard let lock = try? FileLock(marker + ".new", note: nil) else { return nil }
    do { try Files.rename(marker + ".new", to: marker) } catch { return nil }
    return lock
  }

  private static func removeAbandoned(in place: String) {
    for name in (try? Files.list(place)) ?? [] where DurableFile.isTemporary(name) {
      let directory = place + "/" + name
      let marker = directory + "/" + markerName
      guard let status = try? Files.status(directory), status.kind == .directory,
        status.owner == ProcessEnvironment.userID(),
        (try? Files.status(marker))?.kind == .regular,
        let lock = try? FileLock(marker, note: nil)
      else { continue }
      // What cannot be removed now is left to the next process.
      try? Files.remove(directory)
      lock.close()
    }
  }
}
