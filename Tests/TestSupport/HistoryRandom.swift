/// A small random generator with the same numbers on every machine (SplitMix64).
public struct HistoryRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator with a seed.
  public init(_ seed: UInt64) { state = seed }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 to `bound` - 1.
  public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

  /// True in `percent` of a hundred cases.
  public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// One of the values.
  public mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

  /// One of the values, with a probability in proportion to its weight.
  public mutating func pick<T>(weighted values: [(weight: Int, value: T)]) -> T {
    var rest = below(values.reduce(0) { $0 + $1.weight })
    for (weight, value) in values {
      if rest < weight { return value }
      rest -= weight
    }
    return values[values.count - 1].value
  }
}
