/// The size of a seed, and its users.
package struct SeedOptions: Sendable {
  /// 1 is a small field service organization with about two thousand records; the size is linear.
  package var scale: Int
  /// The seed of the random numbers.
  package var seed: UInt64
  /// The technicians' user names.
  package var technicians: [String]

  package init(
    scale: Int = 1, seed: UInt64 = 1,
    technicians: [String] = ["ada@example.com", "ben@example.com", "cleo@example.com"]
  ) {
    self.scale = scale
    self.seed = seed
    self.technicians = technicians
  }
}
