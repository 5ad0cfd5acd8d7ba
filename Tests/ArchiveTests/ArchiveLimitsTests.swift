import Archive
import TestSupport
import Testing

@Suite struct ArchiveLimitsTests {
  let directory = TemporaryDirectory()

  private func archive(
    _ format: ArchiveFormat, _ sizes: [Int], byte: (Int) -> UInt8 = { _ in 0 }
  ) throws -> String {
    let path = directory.file("a")
    let writer = try ArchiveWriter(path: path, format: format, modified: 1_706_704_496_000)
    for (place, size) in sizes.enumerated() {
      try writer.add(name: "e\(place)", bytes: (0..<size).map(byte))
    }
    try writer.close()
    return path
  }

  private func drain(
    _ path: String, _ limits: ArchiveReader.Limits, allowing more: Int64 = 0
  ) throws -> Int {
    let reader = try ArchiveReader(path: path, limits: limits)
    reader.allow(more)
    var bytes = 0
    while try reader.next() != nil { try reader.read { bytes += $0.count } }
    return bytes
  }

  private func isTooLarge(_ body: () throws -> Int) -> Bool {
    let error = #expect(throws: ArchiveError.self) { _ = try body() }
    return error?.kind == .tooLarge
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `the maximum number of entries is read, one more is rejected`(format: ArchiveFormat) throws {
    let path = try archive(format, [1, 1, 1])
    #expect(try drain(path, .init(entries: 3)) == 3)
    #expect(isTooLarge { try drain(path, .init(entries: 2)) })
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `the maximum number of bytes is read, one more is rejected`(format: ArchiveFormat) throws {
    let path = try archive(format, [100, 200])
    #expect(try drain(path, .init(totalBytes: 300, entryBytes: 200)) == 300)
    #expect(isTooLarge { try drain(path, .init(totalBytes: 299, entryBytes: 200)) })
    #expect(isTooLarge { try drain(path, .init(totalBytes: 300, entryBytes: 199)) })
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a raised ratio limit does not raise the other limits`(format: ArchiveFormat) throws {
    // Two megabytes of zeros compress to a few kilobytes.
    let path = try archive(format, [1 << 20, 1 << 20])
    #expect(isTooLarge { try drain(path, .init(ratio: 1)) })
    #expect(try drain(path, .init(ratio: 1), allowing: 2 << 20) == 2 << 20)
    #expect(isTooLarge { try drain(path, .init(totalBytes: 2_000_000), allowing: 1 << 40) })
    #expect(isTooLarge { try drain(path, .init(entryBytes: 1_000_000), allowing: 1 << 40) })
  }
}
