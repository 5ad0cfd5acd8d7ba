import Bundles
import SmartStore
import System

/// The name of a bundle's file: `ios.bundle.zip`, and `ios.bundle.2.zip` of the second that a generation has.
package struct BundleName: Sendable, Hashable {
  /// Whose app opens it.
  package let platform: Platform
  /// Which of its generation's bundles it is: 1 is the first.
  package let number: Int
  /// What comes last: the archive's format.
  package let ending: String

  /// The name of a bundle that is to be written.
  package init(_ platform: Platform, number: Int, _ format: BundleFormat) {
    (self.platform, self.number, ending) = (platform, number, format.rawValue)
  }

  /// Reads a file's name; nil where it is not that of a bundle.
  package init?(_ name: String) {
    let parts = name.split(separator: ".")
    guard parts.count > 2, parts[1] == Self.word,
      let platform = Platform(rawValue: String(parts[0]))
    else { return nil }
    let number = Int(parts[2])
    (self.platform, self.number) = (platform, number ?? 1)
    ending = parts.dropFirst(number == nil ? 2 : 3).joined(separator: ".")
  }

  private static let word = "bundle"

  /// The file's name.
  package var text: String {
    [platform.rawValue, Self.word, number == 1 ? nil : String(number), ending]
      .compactMap { $0 }.joined(separator: ".")
  }

  /// The bundles of one platform that lie in a generation's directory, oldest first.
  package static func list(in directory: String, _ platform: Platform) throws -> [BundleName] {
    try Files.list(directory).compactMap { BundleName($0) }
      .filter { $0.platform == platform }.sorted { $0.number < $1.number }
  }
}
