import JSON
import Pipelines
import Rehearsal
import SmartStore
import System
import TestSupport
import Testing

/// The independent reader of the format, which knows nothing of our code.
enum ForeignReader {
  /// What it finds wrong with stores of one platform, a line each.
  static func violations(_ paths: [String], _ platform: Platform) throws -> [String] {
    let script = World.repository + "/Tests/Python/smartstore_reader.py"
    let result = try ChildProcess.run(
      "/usr/bin/env", ["python3", script, "--platform", platform.rawValue] + paths)
    let text = String(decoding: result.output + result.error, as: UTF8.self)
    let lines = text.split(separator: "\n").map(String.init)
    return result.status == 0 || !lines.isEmpty ? lines : ["exit status \(result.status)"]
  }

  /// The same for stores of both platforms.
  static func violations(_ stores: [(path: String, platform: Platform)]) throws -> [String] {
    try [Platform.ios, .android].flatMap { platform in
      try violations(stores.filter { $0.platform == platform }.map(\.path), platform)
    }
  }
}

@Suite struct StoresReadElsewhereTests {
  @Test func `every store that a run makes is sound to an independent reader`() async throws {
    let world = try World()
    try await world.run()
    let first = try world.stores()
    #expect(first.count == 8)
    #expect(try ForeignReader.violations(first) == [])

    // The second generation is made by other ways: copied, changed, with records taken out.
    let device = try world.device("ada")
    let ids = try world.ids("accounts", on: device)
    let admin = try world.user("admin")
    #expect(world.org.update("Account", id: ids[0], ["Phone": "7"], as: admin).errors == [])
    #expect(world.org.delete("Account", id: ids[1], as: admin).errors == [])
    let product = world.org.create("Product2", ["Name": "Crank", "IsActive": true], as: admin)
    #expect(product.errors == [])
    try await world.run()
    let second = try world.stores()
    #expect(second.count > first.count)
    #expect(try ForeignReader.violations(second) == [])
  }
}
