import System
import Testing

@Suite struct OrderedWorkTests {
  private struct Trouble: Error {}

  /// The number of running items, and its maximum.
  private struct Load: Sendable {
    var now = 0
    var most = 0
    var begun: [Int] = []
  }

  @Test(arguments: [1, 2, 4, 100])
  func `results are taken in item order, regardless of which is first`(_ atOnce: Int) async throws {
    let load = Locked(Load())
    var taken: [Int] = []
    try await OrderedWork.perform(Array(0..<50), atOnce: atOnce, name: "test") { index, item in
      load.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
        $0.begun.append(index)
      }
      // Every third item takes far longer than the others.
      var sum = 0
      for step in 0..<(item % 3 == 0 ? 200_000 : 100) { sum &+= step }
      load.withLock { $0.now -= 1 }
      return item * 10 + (sum == -1 ? 1 : 0)
    } take: { item, made in
      #expect(made == item * 10)
      // At most one more item than the limit is made but not taken.
      #expect(load.withLock { $0.begun.count } <= taken.count + atOnce + 1)
      taken.append(item)
    } drop: { _ in
      Issue.record("nothing should be dropped")
    }
    #expect(taken == Array(0..<50))
    #expect(load.withLock { $0.most } <= atOnce)
  }

  @Test(arguments: [1, 2, 4])
  func `after a failed take nothing more is started, and all results are dropped`(_ atOnce: Int)
    async throws
  {
    let begun = Locked<[Int]>([])
    var (taken, dropped): ([Int], [Int]) = ([], [])
    await #expect(throws: Trouble.self) {
      try await OrderedWork.perform(Array(0..<50), atOnce: atOnce, name: "test") { index, item in
        begun.withLock { $0.append(index) }
        return item
      } take: { item, _ in
        if item == 7 { throw Trouble() }
        taken.append(item)
      } drop: {
        dropped.append($0)
      }
    }
    #expect(taken == Array(0..<7))
    // Each item is taken, failed or was dropped.
    #expect(Set(dropped) == Set(begun.withLock { $0 }).subtracting(0...7))
    #expect(begun.withLock { $0.count } <= 7 + atOnce + 1)
  }

  @Test(arguments: [2, 4])
  func `an item that fails together with others is retried alone, then the others`(_ atOnce: Int)
    async throws
  {
    let load = Locked(Load())
    var (taken, dropped): ([Int], [Int]) = ([], [])
    try await OrderedWork.perform(
      Array(0..<20), atOnce: atOnce, name: "test", failedBesideOthers: { $0 < 0 }
    ) { index, item in
      load.withLock {
        $0.now += 1
        $0.begun.append(index)
      }
      let isFirst = load.withLock { load in load.begun.count { $0 == index } == 1 }
      // Gives the other items a share of the time.
      var sum = 0
      for step in 0..<50_000 { sum &+= step }
      let beside = load.withLock { load in
        defer { load.now -= 1 }
        return load.now
      }
      // Item 5 fails together with others, and item 11 fails once even alone.
      let fails = item == 5 && beside > 1 && isFirst || item == 11 && isFirst
      if !isFirst, [5, 11].contains(item) { load.withLock { $0.most = max($0.most, beside) } }
      return fails || sum == -1 ? -1 - item : item
    } take: { item, made in
      #expect(made == item)
      taken.append(item)
    } drop: {
      dropped.append($0)
    }
    #expect(taken == Array(0..<20))
    // Every started item is taken or dropped.
    #expect(dropped.count + 20 == load.withLock { $0.begun.count })
    #expect(dropped.contains(-12))
    #expect(load.withLock { $0.most } == 1)
  }

  @Test func `a stop is obeyed between two items`() async throws {
    let taken = Locked(0)
    let task = Locked<Task<Void, any Error>?>(nil)
    let gate = AsyncStream.makeStream(of: Void.self)
    let work = Task {
      for await _ in gate.stream {}
      try await OrderedWork.perform(Array(0..<50), atOnce: 2, name: "test") { index, _ in
        index
      } take: { item, _ in
        taken.withLock { $0 += 1 }
        if item == 3 { task.withLock { $0?.cancel() } }
      } drop: { _ in
      }
    }
    task.withLock { $0 = work }
    gate.continuation.finish()
    await #expect(throws: CancellationError.self) { try await work.value }
    #expect(taken.withLock { $0 } == 4)
  }
}

@Suite struct FileRoomsTests {
  @Test func `a buffer is reused, grows, and is not created above the limit`() {
    let rooms = FileRooms(most: 100_000)
    let first = rooms.lending { room -> UnsafeMutableRawPointer? in
      let bytes = room.reserve(50_000)
      #expect(bytes?.count == 50_000)
      bytes?[49_999] = 7
      #expect(room.reserve(100_001) == nil)
      #expect(room.reserve(0) == nil)
      return bytes?.baseAddress
    }
    rooms.lending { room in
      #expect(room.content == nil)
      #expect(room.reserve(40_000)?.baseAddress == first)
      #expect(room.reserve(40_000)?.count == 40_000)
      // Two at a time use two buffers.
      rooms.lending { #expect($0.reserve(10)?.baseAddress != first) }
      #expect(room.reserve(100_000)?.count == 100_000)
    }
  }
}
