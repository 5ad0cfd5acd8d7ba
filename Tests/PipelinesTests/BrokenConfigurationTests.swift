import Foundation
import JSON
import Pipelines
import TestSupport
import Testing

@Suite struct BrokenConfigurationTests {
  static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/samples")

  /// Writes the good files with one broken, and gives what is said about them.
  func problems(_ changes: [BrokenConfiguration.Change]) throws -> String {
    var files = BrokenConfiguration.good.mapValues { Data($0.utf8) }
    for change in changes {
      switch change {
      case .edit(let file, let old, let new):
        let text = String(decoding: files[file] ?? Data(), as: UTF8.self)
        try #require(text.contains(old), "nothing to break: \(old)")
        files[file] = Data(text.replacingOccurrences(of: old, with: new).utf8)
      case .whole(let file, let text): files[file] = Data(text.utf8)
      case .bytes(let file, let bytes): files[file] = Data(bytes)
      case .sample(let file, let name):
        files[file] = try Data(contentsOf: Self.samples.appendingPathComponent(name))
      }
    }
    let directory = TemporaryDirectory("configuration")
    for (file, data) in files {
      try data.write(to: URL(fileURLWithPath: directory.file(file.rawValue)))
    }
    do {
      _ = try PipelineFile.read(path: directory.file("pipeline.json"))
      return ""
    } catch {
      return error.description.replacingOccurrences(of: directory.path + "/", with: "")
    }
  }

  @Test(
    arguments: BrokenConfiguration.text + BrokenConfiguration.agreement
      + BrokenConfiguration.files)
  func `a broken configuration is refused with place, reason and mend`(
    broken: BrokenConfiguration
  ) throws {
    #expect(try problems(broken.changes) == broken.expected)
  }

  @Test func `the configuration that the cases break is good`() throws {
    #expect(try problems([]) == "")
  }
}
