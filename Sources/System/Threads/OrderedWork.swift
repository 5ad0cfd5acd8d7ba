/// Processes a list of items in two steps: the first runs for several items at once on separate
/// threads, the second in the order of the items.
///
/// The results of the second step therefore do not depend on which item was ready first.
package enum OrderedWork {
  /// Calls `make` for each item, for several at once, and then `take` with the result, in order.
  ///
  /// An item for which `isAlone` is true is made when its turn comes, with nothing else running.
  /// The same applies to a retry after a failure that the other items may have caused
  /// (`failedBesideOthers`): their results are discarded, and they are made again afterwards.
  ///
  /// At most one item above the limit is made but not yet taken. If `take` throws or the task is
  /// cancelled, no further item is started; running ones are awaited, and results not taken are
  /// passed to `drop`.
  package static func perform<Item: Sendable, Made: Sendable>(
    _ items: [Item], atOnce: Int, name: String,
    isAlone: (Item) -> Bool = { _ in false },
    failedBesideOthers: (Made) -> Bool = { _ in false },
    make: @escaping @Sendable (_ index: Int, Item) -> Made,
    take: (Item, Made) throws -> Void, drop: (Made) -> Void
  ) async throws {
    guard atOnce > 1, items.count > 1 else {
      for (index, item) in items.enumerated() {
        try Task.checkCancellation()
        try take(item, make(index, item))
      }
      return
    }
    let threads = (0..<min(atOnce, items.count)).map { StoreThread(name: "\(name) \($0 + 1)") }
    try await withThrowingTaskGroup(of: (Int, Made).self) { group in
      var begun = 0
      var made: [Int: Made] = [:]
      func begin(_ index: Int) {
        let item = items[index]
        group.addTask(executorPreference: threads[index % threads.count]) {
          (index, make(index, item))
        }
      }
      do {
        for (index, item) in items.enumerated() {
          while begun < min(index + threads.count + 1, items.count),
            begun == index || !items[index...begun].contains(where: isAlone)
          {
            begin(begun)
            begun += 1
          }
          while made[index] == nil, let (place, one) = try await group.next() { made[place] = one }
          try Task.checkCancellation()
          if let one = made[index], failedBesideOthers(one) {
            while let (place, other) = try await group.next() { made[place] = other }
            for other in made.values { drop(other) }
            made = [:]
            begin(index)
            begun = index + 1
            while let (place, one) = try await group.next() { made[place] = one }
            try Task.checkCancellation()
          }
          if let one = made.removeValue(forKey: index) { try take(item, one) }
        }
      } catch {
        group.cancelAll()
        for one in made.values { drop(one) }
        while let (_, one) = try? await group.next() { drop(one) }
        throw error
      }
    }
  }
}
