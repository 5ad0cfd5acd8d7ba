import Snapshots
import System
import TestSupport
import Testing

@Suite struct SnapshotDirectoryTests {
  let directory = TemporaryDirectory()
  var snapshot: SnapshotDirectory { SnapshotDirectory(path: directory.file("users/u")) }

  /// Creates a generation with one iOS store, without publishing it.
  private func make(_ generation: Int) throws -> (temporary: String, GenerationRecord) {
    let issued = try IssuedStore(.ios)
    let temporary = DurableFile.temporaryName(for: snapshot.path + "/x")
    let file = "\(temporary)/ios/\(issued.entry.path)"
    try Files.makeDirectory(Files.parent(of: file) ?? "/")
    try Files.copy(issued.path, to: file)
    let record = GenerationRecord(
      snapshot: IssuedStore.user, generation: generation, run: "run-7", created: IssuedStore.now,
      configHash: "c", stores: [.init(platform: .ios, entry: issued.entry)],
      syncStates: [
        SyncStateEntry(
          scope: .user, storeName: "default", syncName: "accounts", type: "syncDown",
          status: "DONE", maxTimeStamp: IssuedStore.now)
      ], cursors: ["accounts": IssuedStore.now], notes: ["why": "test"])
    return (temporary, record)
  }

  @Test func `a generation is published complete, once, and read back`() throws {
    #expect(try snapshot.generations() == [])
    #expect(try snapshot.current() == nil)
    let (temporary, record) = try make(1)
    try snapshot.publish(temporary, as: record)
    #expect(try snapshot.generations() == [1])
    #expect(try snapshot.record(of: 1) == record)
    try snapshot.verify(record)
    #expect(try snapshot.record(of: 1).digest == record.digest)
    let again = try make(1)
    #expect(throws: SnapshotError.self) { try snapshot.publish(again.temporary, as: again.1) }
    try snapshot.removeTemporaries()
    #expect(try Files.list(snapshot.path) == ["1"])
    #expect(snapshot.directory(of: 1, .ios) == directory.file("users/u/1/ios"))
  }

  @Test func `a store that changed after it was measured is not published`() throws {
    let (temporary, record) = try make(1)
    try Files.append([0], to: "\(temporary)/ios/\(record.stores[0].entry.path)")
    let error = #expect(throws: SnapshotError.self) { try snapshot.publish(temporary, as: record) }
    #expect(error?.isDamage == true)
    #expect(try snapshot.generations() == [])
  }

  @Test func `current is a single line that is replaced`() throws {
    let (temporary, record) = try make(1)
    try snapshot.publish(temporary, as: record)
    let current = CurrentGeneration(generation: 1, digest: record.digest, epoch: 2, run: 9)
    try snapshot.setCurrent(current)
    #expect(try snapshot.current() == current)
    #expect(try Files.read(snapshot.path + "/current") == Array("1 \(record.digest) 2 9\n".utf8))
    // A damaged one is as good as none: it is written again.
    for damaged in ["", "1 abc\n", String(repeating: "1", count: 5000)] {
      try DurableFile.write(Array(damaged.utf8), to: snapshot.path + "/current")
      #expect(try snapshot.current() == nil)
    }
  }
}
