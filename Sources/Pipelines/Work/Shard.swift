/// One of the workers among which the orders of a run are divided.
package struct Shard: Sendable, Hashable {
  /// From 0.
  package let index: Int
  /// The number of workers.
  package let count: Int

  /// Returns nil unless the index is less than the count.
  package init?(_ index: Int, of count: Int) {
    guard index >= 0, index < count else { return nil }
    (self.index, self.count) = (index, count)
  }

  package var text: String { "\(index)/\(count)" }

  /// Whether an order belongs to this worker first.
  func owns(_ order: Int) -> Bool { order % count == index }

  /// The index that Slurm, Kubernetes or AWS Batch gives to a process of an array; nil without any
  /// of them.
  package static func index(in variables: [String: String]) -> Int? {
    func number(_ name: String) -> Int? { variables[name].flatMap { Int($0) } }
    // The indexes of a Slurm array need not start at 0.
    if let task = number("SLURM_ARRAY_TASK_ID") {
      return task - (number("SLURM_ARRAY_TASK_MIN") ?? 0)
    }
    return number("JOB_COMPLETION_INDEX") ?? number("AWS_BATCH_JOB_ARRAY_INDEX")
  }
}
