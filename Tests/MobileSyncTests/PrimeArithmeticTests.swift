import MobileSync
import Testing

@Suite struct PrimeArithmeticTests {
  @Test func `15- and 18-character ids are equal, and other keys stay distinct`() {
    var set = RecordIDSet(["001000000000001", "X-1"])
    let isNew = set.insert("001000000000001AAA")
    #expect(!isNew)
    #expect(set.contains("001000000000001AAA"))
    #expect(!set.contains("001000000000002AAA"))
    #expect(set.contains("X-1"))
    #expect(!set.contains("X-2"))
    #expect(set.count == 2)
    var text = "00100000000000aAAA"
    let results = text.withUTF8 { [set.insert(UnsafeRawBufferPointer($0)), set.contains("x")] }
    #expect(results == [true, false])
    #expect(set.contains("00100000000000a"))
    #expect(!set.contains("00100000000000AAAA"))
  }

  @Test(arguments: [
    (10, 5, true), (11, 5, false), (11, 110, true), (12, 110, false), (0, 0, true),
    (100, 1000, true), (101, 1000, false),
  ])
  func `a tenth of a soup may be deleted at once, and always at least ten`(
    _ ghosts: Int, _ records: Int, _ allowed: Bool
  ) {
    #expect(DeletionGuard().allows(deleting: ghosts, of: records) == allowed)
    // 100 percent allows deleting the whole soup.
    #expect(DeletionGuard(maxDeletesPercent: 100).allows(deleting: records, of: records))
  }

  @Test func `the cursor is the greatest date, limited by now, and looks back an overlap`() {
    var cursor = SyncCursor(highWaterMark: nil, overlapSeconds: 300)
    #expect(cursor.since == nil)
    #expect(cursor.maxTimeStamp == -1)
    cursor.advance(to: nil, now: 1_000_000)
    #expect(cursor.highWaterMark == nil)
    cursor.advance(to: 900_000, now: 1_000_000)
    cursor.advance(to: 800_000, now: 1_000_000)
    #expect(cursor.highWaterMark == 900_000)
    #expect(cursor.since == 600_000)
    #expect(cursor.maxTimeStamp == 600_000)
    cursor.advance(to: 2_000_000, now: 1_000_000)
    #expect(cursor.highWaterMark == 1_000_000)
    #expect(!cursor.isAhead(of: 1_000_000))
    #expect(cursor.isAhead(of: 999_999))
  }

  @Test(arguments: [Int64(0), -1])
  func `an invalid mark is ignored, and everything is requested`(_ mark: Int64) {
    let cursor = SyncCursor(highWaterMark: mark, overlapSeconds: 300)
    #expect(cursor.since == nil)
    #expect(cursor.maxTimeStamp == -1)
  }

  @Test func `a stored cursor requests what its syncs soup says, and never moves back`() {
    for stamp in [Int64(-1), 1, 900_000] {
      #expect(SyncCursor(maxTimeStamp: stamp, overlapSeconds: 300).maxTimeStamp == stamp)
    }
    var cursor = SyncCursor(maxTimeStamp: 600_000, overlapSeconds: 300)
    cursor.advance(to: 800_000)
    #expect(cursor.maxTimeStamp == 600_000)
    cursor.advance(to: 1_000_000)
    #expect(cursor.maxTimeStamp == 700_000)
  }

  @Test func `a held cursor requests the records still to read, a held first one all`() {
    var cursor = SyncCursor(highWaterMark: 1_000_000, overlapSeconds: 300)
    cursor.hold(at: 900_000)
    #expect(cursor.maxTimeStamp == 700_000)
    cursor.hold(at: 650_000)
    #expect(cursor.maxTimeStamp == 650_000)
    cursor.hold(at: -1)
    #expect(cursor.maxTimeStamp == -1)
  }

  @Test func `the ids that another set lacks are in order, as an org writes them`() {
    let set = RecordIDSet(["001000000000002", "001000000000001AAA", "X-1", "X-2"])
    let absent = set.subtracting(RecordIDSet(["X-2", "001000000000009AAA"]))
    #expect(absent.slice(0, of: 9) == ["001000000000001AAA", "001000000000002AAA", "X-1"])
    #expect(set.subtracting(set).count == 0)
  }
}
