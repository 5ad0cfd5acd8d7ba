import Bundles
import Pipelines
import Rehearsal
import SmartStore
import System
import TestSupport
import Testing

/// A pipeline with `pack.seal.with: "archive"`.
@Suite struct SealedArchivesTests {
  static let passphrase = SealedBundlesTests.passphrase

  private func world(_ passphrase: String = passphrase, extra: String = "") throws -> World {
    try World {
      SealedBundlesTests.sealing(
        $0, secret: #"{"command": ["/bin/echo", "\#(passphrase)"]}\#(extra)"#, with: "archive")
    }
  }

  private let key = ArchiveKey(passphrase: Secret(passphrase))

  @Test func `an edit completes the cycle from a sealed archive`() async throws {
    let world = try world()
    let first = try await world.run()
    #expect(first.bundles.count == 6)
    for path in first.bundles {
      let manifest = try BundleReader.verify(path, key: key)
      #expect(manifest.seal?.method == "archive")
    }
    #expect(try Tree.files(world.data.path + "/users").allSatisfy { !$0.contains(".tmp-") })
    let place = world.directory.file("phone")
    let manifest = try BundleReader.extract(world.bundle("ada"), to: place, key: key)
    let entry = try #require(manifest.stores.first { $0.scope == .user })
    let device = Device(platform: .ios, storePath: place + "/" + entry.path)
    try device.install(now: world.org.now())
    let account = try #require(try world.ids("accounts", on: device).last)
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0188"])
    #expect(try await world.run().verdicts == [.updated: 1])
  }

  @Test func `an unchanged generation is packed again only for a new passphrase`() async throws {
    let world = try world()
    let first = try await world.run()
    let before = try first.bundles.map { try Files.read($0) }
    #expect(try await world.run().bundles == [])
    for path in first.bundles { try Files.remove(path) }
    #expect(try await world.run(.pack).bundles == first.bundles)
    #expect(try first.bundles.map { try Files.read($0) } == before)
    try world.rewrite(Self.passphrase, "b3RoZXIgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ=")
    #expect(try await world.runAsWritten([.pack]).bundles.count == 6)
    #expect(try await world.runAsWritten([.pack]).bundles == [])
  }

  @Test func `a passphrase that is not base64 of 32 bytes packs nothing`() async throws {
    let world = try world("short")
    try await world.run(.prime)
    let error = await #expect(throws: PipelineError.self) { try await world.run(.pack) }
    #expect(error?.description.contains("is not base64 of 32 bytes") == true)
  }

  @Test func `iterations of a key derivation are refused`() throws {
    let error = #expect(throws: (any Error).self) { try world(extra: #", "kdfIterations": 4000"#) }
    #expect(error.map { "\($0)" }?.contains("does not apply to a sealed archive") == true)
  }
}
