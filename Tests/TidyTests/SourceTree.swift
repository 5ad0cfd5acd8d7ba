import Foundation

/// The Swift files of this checkout.
enum SourceTree {
  struct File {
    /// The path relative to the package, such as `Sources/JSON/JSONValue.swift`.
    let path: String
    let text: String

    /// The target of a file under `Sources/`.
    var target: String { String(path.split(separator: "/")[1]) }
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
  }

  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The files that are compiled into programs.
  static let programs = files(under: "Sources") + files(under: "Benchmarks")

  static func files(under folder: String) -> [File] {
    let base = root.appendingPathComponent(folder)
    let walker = FileManager.default.enumerator(atPath: base.path)
    var files: [File] = []
    while let name = walker?.nextObject() as? String {
      guard name.hasSuffix(".swift"),
        let text = try? String(contentsOf: base.appendingPathComponent(name), encoding: .utf8)
      else { continue }
      files.append(File(path: folder + "/" + name, text: text))
    }
    return files.sorted { $0.path < $1.path }
  }
}
