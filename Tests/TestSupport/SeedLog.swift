import Foundation
import System

/// The seeds that a campaign has run, one per line of a file, so that an interrupted `make soak` is
/// resumed.
///
/// `ATTACHE_SOAK` names the directory of these files; without it nothing is stored.
package struct SeedLog: Sendable {
  /// The number of times `make soak` has completed all campaigns.
  static let round = ProcessEnvironment.variable("ATTACHE_SOAK_ROUND").flatMap { Int($0) } ?? 0
  private static let turn = Locked(())
  private let path: String

  /// Opens the log of a campaign; nil if nothing is stored.
  package init?(_ campaign: CampaignSize) {
    guard let directory = ProcessEnvironment.variable("ATTACHE_SOAK") else { return nil }
    path = directory + "/" + campaign.rawValue + ".seeds"
  }

  /// The successful seeds; a failed one is run again.
  package var done: Set<UInt64> {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return Set(
      text.split(separator: "\n").filter { $0.hasSuffix(" held") }
        .compactMap { $0.split(separator: " ").first.flatMap { UInt64($0) } })
  }

  /// Adds a seed with its failure; nil for success.
  package func add(_ seed: UInt64, failure: String?) {
    let line = "\(seed) \(failure.map { "failed: \($0.prefix(300))" } ?? "held")"
    Self.turn.withLock { _ in
      guard let file = fopen(path, "a") else { return }
      fputs(line.replacing("\n", with: " ") + "\n", file)
      fclose(file)
    }
  }
}
