import Returns
import SQLite
import SmartStore
import System
import TestSupport
import Testing

@Suite struct CutOffStoreTests {
  let directory = TemporaryDirectory()

  private func issued(_ platform: Platform) throws -> [UInt8] {
    let issued = try Issued(platform)
    return try withExtendedLifetime(issued) { try Files.read(issued.storePath) }
  }

  /// The refusal of a store with the bytes of its log; nil if it is accepted.
  private func refusal(_ store: [UInt8], log: [UInt8] = []) throws -> Refusal? {
    let path = directory.file("returned.db")
    try DurableFile.write(store, to: path)
    if !log.isEmpty { try DurableFile.write(log, to: path + "-wal") }
    defer { for used in [path, path + "-wal", directory.file("root")] { try? Files.remove(used) } }
    do {
      _ = try Issued.validate(path, in: directory)
      return nil
    } catch let refusal as Refusal { return refusal }
  }

  /// Writes a large text to the first row.
  private func edit(_ device: Connection, _ letter: String) throws {
    try device.execute(
      """
      UPDATE TABLE_1 SET lastModified = lastModified + 1,
        soup = json_set(soup, '$.Name', printf('%.*c', 20000, '\(letter)')) WHERE id = 1
      """)
  }

  /// A store with large rows in WAL mode: its file, the log of another edit, and the pages in that
  /// log.
  private func inLog() throws -> (store: [UInt8], log: [UInt8], pages: Set<Int>) {
    let issued = try Issued(.android)
    let device = try Connection(issued.storePath)
    try device.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    try edit(device, "a")
    try device.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try edit(device, "b")
    let store = try Files.read(issued.storePath)
    let log = try Files.read(issued.storePath + "-wal")
    device.close()
    return (store, log, Set(HandMadeLog.frames(of: log).map { Int($0.page) }))
  }

  @Test(arguments: Platform.allCases)
  func `a store without its last bytes is rejected, whatever they are`(platform: Platform) throws {
    let whole = try issued(platform)
    try #require(whole.count % 4096 == 0)
    #expect(try refusal(whole) == nil)
    for cut in [1, 3, 60, 300, 450, 4095, 4096] {
      let refusal = try refusal(Array(whole.dropLast(cut)))
      #expect(refusal?.code == .damaged, "\(cut) bytes")
      #expect(refusal?.sentence.contains("is truncated in page \(whole.count / 4096)") == true)
      #expect(refusal?.fix == "have the device send its store again")
      // The check of the file itself reports the same.
      let path = directory.file("checked.db")
      try DurableFile.write(Array(whole.dropLast(cut)), to: path)
      let found = try StoreCheck().violations(at: path).map(\.description)
      #expect(found.first?.hasPrefix("file: is truncated in page") == true, "\(cut): \(found)")
    }
  }

  @Test func `a store longer than its header says is complete`() throws {
    #expect(try refusal(issued(.ios) + [UInt8](repeating: 0, count: 4096)) == nil)
  }

  @Test func `a store without a page count in its header is measured in whole pages`() throws {
    var bytes = try issued(.ios)
    // A program that does not count pages only updates the change counter.
    bytes[95] ^= 1
    #expect(try refusal(bytes) == nil)
    #expect(try refusal(Array(bytes.dropLast(3)))?.code == .damaged)
  }

  @Test func `missing pages are read from the log, and are damage if it lacks them too`() throws {
    let (store, log, pages) = try inLog()
    let last = store.count / 4096
    try #require(pages.contains(last))
    #expect(try refusal(store, log: log) == nil)
    // The log contains the last page.
    #expect(try refusal(Array(store.dropLast(300)), log: log) == nil)
    let other = try #require((1...last).last { !pages.contains($0) })
    let refusal = try refusal(Array(store[..<(other * 4096 - 300)]), log: log)
    #expect(refusal?.code == .damaged)
    #expect(refusal?.sentence.contains("is truncated in page \(other)") == true)
  }
}
