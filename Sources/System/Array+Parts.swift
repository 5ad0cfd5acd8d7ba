extension Array {
  /// The elements in parts of a given size, in order; the last part may be smaller.
  package func parts(of size: Int) -> [[Element]] {
    stride(from: 0, to: count, by: Swift.max(1, size)).map {
      Array(self[$0..<Swift.min($0 + Swift.max(1, size), count)])
    }
  }
}
