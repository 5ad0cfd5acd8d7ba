import System

/// The format of a pipeline's data directory, whose number is in the file `format`.
///
/// The first run writes the file before anything else.
package enum DataFormat {
  /// The format that this program reads and writes.
  package static let current = 2

  /// Throws if a program with another format created the directory.
  package static func check(_ data: DataDirectory) throws { _ = try isKnown(in: data) }

  /// Writes the format of a new directory; throws if the directory has another format.
  ///
  /// The caller must hold the lock.
  static func record(in data: DataDirectory) throws {
    if try isKnown(in: data) { return }
    try DurableFile.write(Array("\(current)\n".utf8), to: data.format)
  }

  /// Returns false for a directory without the file.
  private static func isKnown(in data: DataDirectory) throws -> Bool {
    guard Files.exists(data.format) else { return false }
    let text = String(decoding: try Files.read(data.format, limit: 64), as: UTF8.self)
    let number = text.hasSuffix("\n") ? Int(text.dropLast()) : nil
    guard let number, number > 0 else {
      throw PipelineError(
        .configuration, "data.format", "the format of the data directory cannot be read",
        location: data.format, reason: "the file is not one number on one line",
        fix: "restore the file from a backup")
    }
    guard number == current else {
      throw PipelineError(
        .configuration, "data.newer-format",
        "the data directory has format \(number), and this program supports format \(current)",
        location: data.path, fix: "use the program that created it, or a newer one")
    }
    return true
  }
}
