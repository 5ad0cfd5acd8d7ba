/// How much data a seed makes, and for whom.
package struct SeedOptions: Sendable {
  /// 1 is a small field service organisation of about two thousand records; the rest is linear.
  package var scale: Int
  /// The start of the random numbers.
  package var seed: UInt64
  /// The user names of the technicians.
  package var technicians: [String]

  /// Makes options.
  package init(
    scale: Int = 1, seed: UInt64 = 1,
    technicians: [String] = ["ada@example.com", "ben@example.com", "cleo@example.com"]
  ) {
    self.scale = scale
    self.seed = seed
    self.technicians = technicians
  }
}
