import Bundles
import Foundation
import JSON
import Pipelines
import SmartStore
import TestSupport
import Testing

@Suite struct BrokenConfigurationTests {
  static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures")

  /// Writes the valid files with the changes, and returns the messages about them.
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
        files[file] = try Data(contentsOf: Self.fixtures.appending(path: "samples/" + name))
      }
    }
    let directory = TemporaryDirectory("configuration")
    for (file, data) in files {
      try data.write(to: URL(fileURLWithPath: directory.file(file.rawValue)))
    }
    do {
      _ = try PipelineFile.read(path: directory.file("pipeline.json"))
      return ""
    } catch { return error.description.replacingOccurrences(of: directory.path + "/", with: "") }
  }

  @Test(arguments: BrokenConfiguration.all)
  func `a broken configuration is refused with reason and fix`(broken: BrokenConfiguration) throws {
    #expect(try problems(broken.changes) == broken.expected)
  }

  @Test func `the unbroken configuration of the cases is valid`() throws {
    #expect(try problems([]) == "")
    #expect(BrokenConfiguration.all.count > 100)
  }

  @Test(
    arguments: [
      ("größe", true), ("é", true), ("e\u{301}", true), ("ストア 1", true), ("my store", true),
      ("a\u{1}b", false), ("a\u{7F}", false), ("a\u{2028}b", false), (".hidden", false),
      ("a/b", false), (String(repeating: "a", count: 188), true),
      (String(repeating: "a", count: 189), false), (String(repeating: "é", count: 95), false),
      (String(repeating: "a", count: 240), false),
    ], [StoreScope.user, .global])
  func `a store name is refused if and only if its store could not be packed`(
    name: (String, isTaken: Bool), scope: StoreScope
  ) throws {
    // The path of a global store contains no IDs.
    if scope == .global, name.0.utf8.count > 188 { return }
    let settings = """
      "reconcile": ["up"], "scope": "\(scope.rawValue)", "storeName": \(JSONText.quoted(name.0))
      """
    let said = try problems([
      .pipeline(#""platforms": ["ios"]"#, #""platforms": ["ios", "android"]"#),
      .pipeline(#""reconcile": ["up"]"#, settings),
    ])
    #expect(said.contains("storeName") == !name.isTaken, "\(said)")
    let user = StoreLocation.User(
      organizationID: "00D000000000001EAA", userID: "005000000000001AAA")
    let isPacked = Platform.allCases.allSatisfy {
      let path = StoreLocation($0, storeName: name.0, user: scope == .user ? user : nil).path
      return BundleWriter.refusal(ofStorePath: path) == nil
    }
    if name.isTaken { #expect(isPacked) }
  }

  @Test func `stores whose names differ only in case are refused`() throws {
    let second = #"{"storeName": "Größe", "schema": "store.json", "syncs": "syncs.json"}"#
    let said = try problems([
      .pipeline(#""reconcile": ["up"]"#, #""reconcile": ["up"], "storeName": "grÖSSe""#),
      .pipeline("\n  ],", ",\n    \(second),\n    \(second.replacing("Grö", with: "grö"))\n  ],"),
    ])
    #expect(
      said.contains("are one file on a device whose file names are not case-sensitive"), "\(said)")
  }
}
