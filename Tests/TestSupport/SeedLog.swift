import Foundation
import System

/// The seeds that a campaign has played, one a line in a file, so that an interrupted `make soak` is resumed.
///
/// `ATTACHE_SOAK` names the directory of these files; without it nothing is kept.
package struct SeedLog: Sendable {
  /// How many times `make soak` has played all campaigns to their end.
  static let round = ProcessEnvironment.variable("ATTACHE_SOAK_ROUND").flatMap { Int($0) } ?? 0

  private static let turn = Locked(())
  private let path: String

  /// The log of a campaign; nil where nothing is kept.
  package init?(_ campaign: CampaignSize) {
    guard let directory = ProcessEnvironment.variable("ATTACHE_SOAK") else { return nil }
    path = directory + "/" + campaign.rawValue + ".seeds"
  }

  /// The seeds that held; one that failed is played again.
  package var done: Set<UInt64> {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return Set(
      text.split(separator: "\n").filter { $0.hasSuffix(" held") }
        .compactMap { $0.split(separator: " ").first.flatMap { UInt64($0) } })
  }

  /// Adds a seed with what was wrong, nil where it held.
  package func add(_ seed: UInt64, failure: String?) {
    let line = "\(seed) \(failure.map { "failed: \($0.prefix(300))" } ?? "held")"
    Self.turn.withLock { _ in
      guard let file = fopen(path, "a") else { return }
      fputs(line.replacing("\n", with: " ") + "\n", file)
      fclose(file)
    }
  }
}
