import Foundation
import System

/// A store that a pipeline has created.
public struct StoreFile: Sendable {
  /// The path of the file.
  public let path: String
  /// The platform: `ios` or `android`.
  public let platform: String

  /// Every store file below `users/` and `global/` of a pipeline's directory.
  public static func all(in data: String) throws -> [StoreFile] {
    var found: [StoreFile] = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: data).sorted() {
      let parts = name.split(separator: "/")
      guard parts.first == "users" || parts.first == "global",
        name.hasSuffix(".sqlite") || name.hasSuffix(".db"), !name.contains("/.tmp-")
      else { continue }
      found.append(
        StoreFile(path: data + "/" + name, platform: parts.contains("ios") ? "ios" : "android"))
    }
    return found
  }
}

/// The independent reader of the store format, which shares no code with attache.
public enum ForeignReader {
  /// The violations that it finds in stores, one per line.
  public static func violations(_ stores: [StoreFile]) throws -> [String] {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Python/smartstore_reader.py").path
    return try ["ios", "android"].flatMap { platform -> [String] in
      let paths = stores.filter { $0.platform == platform }.map(\.path)
      guard !paths.isEmpty else { return [] }
      let result = try ChildProcess.run(
        "/usr/bin/env", ["python3", script, "--platform", platform] + paths,
        environment: ProcessEnvironment.variables())
      let text = String(decoding: result.output + result.error, as: UTF8.self)
      let lines = text.split(separator: "\n").map(String.init)
      return result.status == 0 || !lines.isEmpty ? lines : ["exit status \(result.status)"]
    }
  }
}
