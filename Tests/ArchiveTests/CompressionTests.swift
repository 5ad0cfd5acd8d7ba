import Archive
import Foundation
import TestSupport
import Testing

@Suite struct CompressionTests {
  static let contents: [[UInt8]] = [
    [], [0], Array("hello hello hello".utf8), [UInt8](repeating: 7, count: 1 << 20),
    (0..<100_000).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 3) },
  ]

  @Test(arguments: contents.indices)
  func `bytes survive both compressions and a file`(index: Int) throws {
    let content = CompressionTests.contents[index]
    #expect(try Compression.unzstd(Compression.zstd(content), limit: 1 << 21) == content)
    #expect(try Compression.gunzip(Compression.gzip(content), limit: 1 << 21) == content)
    let directory = TemporaryDirectory()
    let writer = try CompressedFileWriter(path: directory.file("a"))
    for start in stride(from: 0, to: content.count, by: 999) {
      try writer.write(Array(content[start..<min(start + 999, content.count)]))
    }
    try writer.close()
    let written = Array(try Data(contentsOf: URL(fileURLWithPath: directory.file("a"))))
    #expect(try Compression.unzstd(written, limit: 1 << 21) == content)
  }

  @Test func `the limit is enforced, and invalid data is an error`() throws {
    let bomb = try Compression.gzip([UInt8](repeating: 0, count: 10 << 20))
    let error = #expect(throws: ArchiveError.self) { try Compression.gunzip(bomb, limit: 1 << 20) }
    #expect(error?.kind == .tooLarge)
    #expect(throws: ArchiveError.self) { try Compression.gunzip(Array("text".utf8), limit: 10) }
    #expect(throws: ArchiveError.self) { try Compression.unzstd([], limit: 10) }
    #expect(throws: ArchiveError.self) {
      try Compression.gunzip(Array(bomb[..<(bomb.count / 2)]), limit: 100 << 20)
    }
    let whole = try Compression.zstd(Array(repeating: 9, count: 300_000))
    #expect(throws: ArchiveError.self) {
      try Compression.unzstd(Array(whole.dropLast(2)), limit: 1 << 20)
    }
  }

  @Test func `the same bytes compress to the same bytes`() throws {
    let content = Array("a text, a text, a text".utf8)
    let one = try Compression.gzip(content)
    #expect(try Compression.gzip(content) == one)
    #expect(Array(one[4..<8]) == [0, 0, 0, 0])
  }
}
