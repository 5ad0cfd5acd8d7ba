import Bundles
import SmartStore
import System

/// The name of a bundle's file: `ios.bundle.zip`, or `ios.bundle.2.zip` for the second bundle of a
/// generation.
package struct BundleName: Sendable, Hashable {
  /// The platform of the app that opens the bundle.
  package let platform: Platform
  /// The number of the bundle within its generation, from 1.
  package let number: Int
  /// The extension, which names the archive format.
  package let ending: String

  package init(_ platform: Platform, number: Int, _ format: BundleFormat) {
    (self.platform, self.number, ending) = (platform, number, format.rawValue)
  }

  /// Parses a file name; nil if it is not the name of a bundle, but of a signature, for instance.
  package init?(_ name: String) {
    let parts = name.split(separator: ".")
    guard parts.count > 2, parts[1] == Self.word,
      let platform = Platform(rawValue: String(parts[0]))
    else { return nil }
    let number = Int(parts[2])
    (self.platform, self.number) = (platform, number ?? 1)
    ending = parts.dropFirst(number == nil ? 2 : 3).joined(separator: ".")
    guard BundleFormat(rawValue: ending) != nil else { return nil }
  }

  private static let word = "bundle"

  package var text: String {
    [platform.rawValue, Self.word, number == 1 ? nil : String(number), ending]
      .compactMap { $0 }.joined(separator: ".")
  }

  /// Returns the bundles of one platform in a generation's directory, oldest first.
  package static func list(in directory: String, _ platform: Platform) throws -> [BundleName] {
    try Files.list(directory).compactMap { BundleName($0) }
      .filter { $0.platform == platform }.sorted { $0.number < $1.number }
  }
}
