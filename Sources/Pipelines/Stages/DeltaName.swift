import Bundles
import SmartStore
import System

/// The name of a delta's file: `ios.delta.3-4.zip`, or `ios.delta.3-4.2.zip` for the second bundle of
/// generation 4.
struct DeltaName: Sendable, Hashable {
  /// The platform of the app that applies the delta.
  let platform: Platform
  /// The generation of the device's bundle.
  let from: Int
  /// The generation whose directory has the delta.
  let generation: Int
  /// The number of the bundle that the device gets to, within its generation.
  let number: Int

  /// The name of a delta from a generation to a bundle of another.
  init(from: Int, to bundle: BundleName, of generation: Int) {
    (platform, self.from) = (bundle.platform, from)
    (self.generation, number) = (generation, bundle.number)
  }

  /// Parses a file name; nil if it is not the name of a delta, but of a signature, for instance.
  init?(_ name: String) {
    let parts = name.split(separator: ".")
    guard parts.count == 4 || parts.count == 5, parts[1] == Self.word, parts.last == Self.ending,
      let platform = Platform(rawValue: String(parts[0]))
    else { return nil }
    let generations = parts[2].split(separator: "-").compactMap { Int($0) }
    let number = parts.count == 5 ? Int(parts[3]) : 1
    guard generations.count == 2, let number else { return nil }
    (self.platform, from) = (platform, generations[0])
    (generation, self.number) = (generations[1], number)
    guard text == name else { return nil }
  }

  private static let word = "delta"
  private static let ending = Substring("zip")

  var text: String {
    let middle = number == 1 ? "" : ".\(number)"
    return "\(platform.rawValue).\(Self.word).\(from)-\(generation)\(middle).\(Self.ending)"
  }

  /// The name of the link to it, which a device knows by its own generation.
  var link: String { "\(platform.rawValue).\(Self.word).\(from).\(Self.ending)" }

  /// Whether a name is that of a link of any pipeline.
  static func isLink(_ name: Substring) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[1] == word && parts[3] == ending && Int(parts[2]) != nil
      && Platform(rawValue: String(parts[0])) != nil
  }

  /// Returns the deltas to a bundle in its generation's directory, those from older generations
  /// first.
  static func list(in directory: String, to bundle: BundleName) throws -> [DeltaName] {
    try Files.list(directory).compactMap { DeltaName($0) }
      .filter { $0.platform == bundle.platform && $0.number == bundle.number }
      .sorted { $0.from < $1.from }
  }
}
