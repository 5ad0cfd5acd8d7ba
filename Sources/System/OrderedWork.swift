/// Work on a list of items of which the first part is done for several at once, on threads of its own, and the second
/// one after the other, in the items' order.
///
/// So nothing of what the second part does depends on which item was ready first.
package enum OrderedWork {
  /// Hands each item to `make`, up to so many at once, and then with what that made to `take`.
  ///
  /// What `isAlone` is made at its turn, and nothing else meanwhile. So is once more what has failed in such a way that
  /// those beside it may have been in its way (`failedBesideOthers`): they are dropped, and made anew after it.
  ///
  /// Of no more than one item above that number there is something made and not taken yet. When `take` throws, or the
  /// task is cancelled, nothing more is begun; what is under way is waited for, and what is not taken goes to `drop`.
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
