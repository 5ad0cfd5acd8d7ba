import System

/// The line in `current`: the generation that readers use, and the ledger that published it.
package struct CurrentGeneration: Sendable, Hashable {
  package var generation: Int
  /// The SHA-256 of its `generation.json`.
  package var digest: String
  /// The epoch of the ledger.
  package var epoch: Int
  /// The number of the run in the ledger.
  package var run: Int

  package init(generation: Int, digest: String, epoch: Int, run: Int) {
    self.generation = generation
    self.digest = digest
    self.epoch = epoch
    self.run = run
  }

  /// The text of the line.
  package var line: String { "\(generation) \(digest) \(epoch) \(run)\n" }

  /// Parses the line; nil for anything else.
  package init?(line: String) {
    let parts = line.split(whereSeparator: \.isWhitespace)
    guard parts.count == 4, let generation = Int(parts[0]), generation > 0,
      parts[1].utf8.count == 64, let epoch = Int(parts[2]), let run = Int(parts[3])
    else { return nil }
    self.init(generation: generation, digest: String(parts[1]), epoch: epoch, run: run)
  }
}
