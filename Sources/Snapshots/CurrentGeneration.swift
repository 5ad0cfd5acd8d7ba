import System

/// The one line of `current`: which generation a reader takes, and which ledger published it.
package struct CurrentGeneration: Sendable, Hashable {
  /// The generation.
  package var generation: Int
  /// SHA-256 of its `generation.json`.
  package var digest: String
  /// The epoch of the ledger.
  package var epoch: Int
  /// The number of the run in the ledger.
  package var run: Int

  /// Makes a line of its parts.
  package init(generation: Int, digest: String, epoch: Int, run: Int) {
    self.generation = generation
    self.digest = digest
    self.epoch = epoch
    self.run = run
  }

  /// The line.
  package var line: String { "\(generation) \(digest) \(epoch) \(run)\n" }

  /// Reads the line; nil for anything else.
  package init?(line: String) {
    let parts = line.split(whereSeparator: \.isWhitespace)
    guard parts.count == 4, let generation = Int(parts[0]), generation > 0,
      parts[1].utf8.count == 64, let epoch = Int(parts[2]), let run = Int(parts[3])
    else { return nil }
    self.init(generation: generation, digest: String(parts[1]), epoch: epoch, run: run)
  }
}
