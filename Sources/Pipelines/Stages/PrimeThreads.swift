import System

/// The threads on which snapshots are primed.
///
/// Each thread works on one snapshot at a time, while others wait for the org.
struct PrimeThreads {
  private let threads: [StoreThread]
  /// The index of the thread of each snapshot in progress.
  private var places: [String: Int] = [:]

  /// The number of snapshots in progress.
  var used: Int { places.count }

  init(_ count: Int) {
    threads = (0..<count).map { _ in StoreThread(name: "prime") }
  }

  /// Assigns the thread that has the fewest snapshots.
  mutating func take(for snapshot: String) -> StoreThread {
    var load = [Int](repeating: 0, count: threads.count)
    for place in places.values { load[place] += 1 }
    let place = load.indices.min { load[$0] < load[$1] } ?? 0
    places[snapshot] = place
    return threads[place]
  }

  mutating func give(backOf snapshot: String) { places[snapshot] = nil }
}
