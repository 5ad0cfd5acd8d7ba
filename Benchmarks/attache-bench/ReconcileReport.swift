import JSON
import Rehearsal

/// The results of `ReconcileBench`.
struct ReconcileReport: BenchReport {
  /// One reconciliation of a run.
  struct Arm {
    var returns: Int
    var edits: Int
    /// The delay of each answer, in milliseconds.
    var delay: Int
    /// The maximum number of concurrent requests.
    var atOnce: Int
    /// Whether answers were lost, rows locked and sessions ended.
    var strikes: Bool
    var night: NightChild.Night
    var calls: Int
    var least: Int
    var recount: ReturnFleet.Recount

    var callsToLeast: Double { Double(calls) / Double(max(1, least)) }
    var editsPerSecond: Int { edits * 1000 / max(1, night.wall) }

    /// Edits per second of the process's own work, without the time of the org and the network.
    var ownEditsPerSecond: Int { edits * 1000 / max(1, night.processor) }

    /// The differences between the report and the actual result in stores and org.
    var problem: String? {
      if recount.lost > 0 || recount.doubled > 0 {
        return "\(recount.lost) edits are lost, and \(recount.doubled) records were created twice"
      }
      if night.verdicts == recount.verdicts { return nil }
      return
        "the report says \(Self.text(night.verdicts)), but stores and org show \(Self.text(recount.verdicts))"
    }

    private static func text(_ verdicts: [String: Int]) -> String {
      verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    var line: String {
      "\(returns) returns, \(edits) edits, \(delay) ms, \(atOnce) concurrent\(strikes ? ", faults" : ""): "
        + "\(night.wall) ms, \(editsPerSecond) edits/s, \(calls) calls of \(least) = "
        + "\(ReconcileReport.decimal(callsToLeast)), \(night.processor) ms of processor = \(ownEditsPerSecond) edits/s, "
        + "\(night.peakKiB) KiB" + (problem.map { "; " + $0 } ?? "")
    }

    var json: JSONValue {
      [
        "returns": JSONValue(returns), "edits": JSONValue(edits),
        "delayMilliseconds": JSONValue(delay),
        "atOnce": JSONValue(atOnce), "faults": .bool(strikes), "calls": JSONValue(calls),
        "leastCalls": JSONValue(least), "ownEditsPerSecond": JSONValue(ownEditsPerSecond),
        "night": night.json,
        "problem": problem.map { .string($0) } ?? .null,
      ]
    }
  }

  /// The maximum number of concurrent requests in the arms that have several.
  let concurrency: Int
  var arms: [Arm] = []
  /// The smaller run with faults.
  var small: Arm?
  /// The larger run, repeated.
  var large: [Arm] = []
  /// The larger run with faults, repeated as often; its memory is compared with the smaller one's.
  var struck: [Arm] = []

  /// The speedup of several concurrent requests over one, at a delay.
  func speedUp(_ delay: Int) -> Double? {
    let own = arms.filter { $0.delay == delay }
    guard let one = own.first(where: { $0.atOnce == 1 }),
      let many = own.first(where: { $0.atOnce > 1 })
    else { return nil }
    return Double(one.night.wall) / Double(max(1, many.night.wall))
  }

  /// The minimum number of edits per second of attache's own processor time in the larger run, at
  /// its best, because only other work of the machine makes one repetition slower than another.
  private static let promisedEdits = 5000

  private var all: [Arm] { arms + [small].compactMap(\.self) + large + struck }

  /// The larger run's memory, as a multiple of the smaller one's.
  var growth: Double? {
    guard let small, let peak = struck.map(\.night.peakKiB).max() else { return nil }
    return Double(peak) / Double(max(1, small.night.peakKiB))
  }

  /// The larger run at its best, without and with faults.
  private var best: [Arm] {
    [large, struck].compactMap { $0.min { $0.night.processor < $1.night.processor } }
  }

  /// The limits that are exceeded.
  var failures: [String] {
    var failures = all.compactMap { arm in arm.problem.map { "\(arm.line): \($0)" } }
    // In a small run, the faults have a larger share.
    failures += all.filter { $0.callsToLeast > 1.1 && !($0.strikes && $0.returns < 100) }.map {
      "\(Self.decimal($0.callsToLeast)) times the minimum of calls; the limit is 1.1"
    }
    if let ratio = speedUp(100), ratio < 3, concurrency >= 4 {
      failures.append(
        "several concurrent requests are \(Self.decimal(ratio)) times as fast; the minimum is 3")
    }
    for arm in best where arm.ownEditsPerSecond < Self.promisedEdits {
      failures.append(
        "the larger run's own work\(arm.strikes ? " with faults" : "") amounts to "
          + "\(arm.ownEditsPerSecond) edits per second; the minimum is \(Self.promisedEdits)")
    }
    if let growth, growth > 1.1 {
      failures.append(
        "the larger run takes \(Self.decimal(growth)) times the memory; the limit is 1.1")
    }
    return failures
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = ["Reconciling a run's returns with a local org on the same machine.", ""]
    lines += all.map(\.line)
    for delay in [0, 100] {
      guard let ratio = speedUp(delay) else { continue }
      lines.append(
        "\(concurrency) concurrent requests are \(Self.decimal(ratio)) times as fast as one, at \(delay) ms"
      )
    }
    lines += best.map {
      "the larger run's own work\($0.strikes ? " with faults" : "") amounts to \($0.ownEditsPerSecond) edits per "
        + "second, at its best"
    }
    if let growth {
      lines.append("the larger run takes \(Self.decimal(growth)) times the memory")
    }
    return (lines + [""] + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The results as JSON.
  var json: JSONValue {
    [
      "arms": .array(all.map(\.json)), "failures": .array(failures.map { .string($0) }),
      "speedUpAt0": speedUp(0).map { .number(Self.decimal($0)) } ?? .null,
      "speedUpAt100": speedUp(100).map { .number(Self.decimal($0)) } ?? .null,
      "memoryGrowth": growth.map { .number(Self.decimal($0)) } ?? .null,
    ]
  }

  static func decimal(_ value: Double) -> String {
    let scaled = Int((value * 100).rounded())
    let fraction = String(scaled % 100)
    return "\(scaled / 100)." + (fraction.count < 2 ? "0" : "") + fraction
  }
}
