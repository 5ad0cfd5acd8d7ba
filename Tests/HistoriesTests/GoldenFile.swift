import Crypto
import Foundation
import System
import TestSupport

/// What a history leaves: of each part the text, which is compared by its digest.
enum GoldenPart: String, Sendable, CaseIterable {
  case outcomes
  case writes
  case reports
}

/// `Tests/Fixtures/golden-histories.txt`: the digests of the golden histories, one line per seed.
struct GoldenFile: Sendable {
  static let seeds: [UInt64] = {
    let count = UInt64(CampaignSize.golden.count(at: .soak))
    return (0..<count).map { HistoriesTests.seed + $0 }
  }()

  static let path = Self.file("Tests/Fixtures/golden-histories.txt")

  /// The directory named by `ATTACHE_GOLDEN_TEXTS`, or `.build/golden`, with every text that was
  /// compared, by its digest.
  static let texts =
    ProcessEnvironment.variable("ATTACHE_GOLDEN_TEXTS") ?? Self.file(".build/golden")

  private static let title =
    "# Digests of what 300 histories leave; docs/dev/campaigns.md describes how they are used.\n"

  var digests: [UInt64: [GoldenPart: String]] = [:]

  /// Reads the file; it has no lines if there is none.
  init() throws {
    guard Files.exists(Self.path) else { return }
    let text = String(decoding: try Files.read(Self.path), as: UTF8.self)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 1 + 2 * GoldenPart.allCases.count, let seed = UInt64(words[0]) else {
        throw Violation("\(Self.path) has the line \(line)")
      }
      for place in stride(from: 1, to: words.count, by: 2) {
        guard let part = GoldenPart(rawValue: words[place]) else {
          throw Violation("\(Self.path) has the line \(line)")
        }
        digests[seed, default: [:]][part] = words[place + 1]
      }
    }
  }

  func write() throws {
    let lines = digests.sorted { $0.key < $1.key }.map { seed, parts in
      "\(seed) "
        + GoldenPart.allCases.map { "\($0.rawValue) \(parts[$0] ?? "-")" }.joined(separator: " ")
    }
    let text = Self.title + lines.map { $0 + "\n" }.joined()
    try DurableFile.write(Array(text.utf8), to: Self.path)
  }

  static func keep(_ text: String, _ part: GoldenPart, of seed: UInt64) throws -> String {
    let digest = String(Digest.sha256Hex(Array(text.utf8)).prefix(16))
    let place = place(of: digest, part, seed)
    if !Files.exists(place) {
      try Files.makeDirectory(texts)
      try text.write(toFile: place, atomically: true, encoding: .utf8)
    }
    return digest
  }

  /// Where the text of a digest is kept, if it was played here.
  static func place(of digest: String, _ part: GoldenPart, _ seed: UInt64) -> String {
    "\(texts)/\(seed)-\(part.rawValue)-\(digest).txt"
  }

  private static func file(_ path: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: path).path
  }
}
