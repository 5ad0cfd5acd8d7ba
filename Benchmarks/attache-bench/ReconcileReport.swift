import JSON
import Rehearsal

/// What `ReconcileBench` measured.
struct ReconcileReport: BenchReport {
  /// One night, reconciled once.
  struct Arm {
    var returns: Int
    var edits: Int
    /// How long each answer was held back, in milliseconds.
    var delay: Int
    /// The most requests at once.
    var atOnce: Int
    /// Whether answers were lost, rows held and sessions ended.
    var strikes: Bool
    var night: NightChild.Night
    var calls: Int
    var least: Int
    var recount: ReturnFleet.Recount

    var callsToLeast: Double { Double(calls) / Double(max(1, least)) }
    var editsPerSecond: Int { edits * 1000 / max(1, night.wall) }

    /// Edits a second of the process's own work, without what the org and the wire take.
    var ownEditsPerSecond: Int { edits * 1000 / max(1, night.processor) }

    /// What the report tells otherwise than stores and org.
    var problem: String? {
      if recount.lost > 0 || recount.doubled > 0 {
        return "\(recount.lost) edits are lost, and \(recount.doubled) records were made twice"
      }
      if night.verdicts == recount.verdicts { return nil }
      return
        "told \(Self.text(night.verdicts)), and stores and org show \(Self.text(recount.verdicts))"
    }

    private static func text(_ verdicts: [String: Int]) -> String {
      verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    var line: String {
      "\(returns) returns, \(edits) edits, \(delay) ms, \(atOnce) at once\(strikes ? ", faults" : ""): "
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

  /// The most requests at once where there are several.
  let concurrency: Int
  var arms: [Arm] = []
  /// The smaller night with faults.
  var small: Arm?
  /// The larger night, played several times.
  var large: [Arm] = []
  /// The larger night with faults, played as often, whose memory is compared with the smaller one's.
  var struck: [Arm] = []

  /// How much faster several requests at once are than one, at a delay.
  func speedUp(_ delay: Int) -> Double? {
    let own = arms.filter { $0.delay == delay }
    guard let one = own.first(where: { $0.atOnce == 1 }),
      let many = own.first(where: { $0.atOnce > 1 })
    else { return nil }
    return Double(one.night.wall) / Double(max(1, many.night.wall))
  }

  /// How many edits a second of attache's own processor time the larger night is to have, at its best: only other
  /// work of the machine makes one play of it dearer than another.
  private static let promisedEdits = 5000

  private var all: [Arm] { arms + [small].compactMap(\.self) + large + struck }

  /// What the larger night takes more of memory, as a multiple.
  var growth: Double? {
    guard let small, let peak = struck.map(\.night.peakKiB).max() else { return nil }
    return Double(peak) / Double(max(1, small.night.peakKiB))
  }

  /// The larger night at its best, without faults and with them.
  private var best: [Arm] {
    [large, struck].compactMap { $0.min { $0.night.processor < $1.night.processor } }
  }

  /// What was promised and is not so.
  var failures: [String] {
    var failures = all.compactMap { arm in arm.problem.map { "\(arm.line): \($0)" } }
    // Of a small night the faults are a greater part.
    failures += all.filter { $0.callsToLeast > 1.1 && !($0.strikes && $0.returns < 100) }.map {
      "\(Self.decimal($0.callsToLeast)) times the least calls, and 1.1 is the limit"
    }
    if let ratio = speedUp(100), ratio < 3, concurrency >= 4 {
      failures.append(
        "several requests at once are \(Self.decimal(ratio)) times as fast, and 3 was promised")
    }
    for arm in best where arm.ownEditsPerSecond < Self.promisedEdits {
      failures.append(
        "the larger night's own work\(arm.strikes ? " with faults" : "") comes to "
          + "\(arm.ownEditsPerSecond) edits a second, and \(Self.promisedEdits) were promised")
    }
    if let growth, growth > 1.1 {
      failures.append(
        "the larger night takes \(Self.decimal(growth)) times the memory, and 1.1 is the limit")
    }
    return failures
  }

  /// A table and what is not as promised.
  var text: String {
    var lines = ["Reconciling a night's returns with a local org on the same machine.", ""]
    lines += all.map(\.line)
    for delay in [0, 100] {
      guard let ratio = speedUp(delay) else { continue }
      lines.append(
        "\(concurrency) at once are \(Self.decimal(ratio)) times as fast as one, at \(delay) ms")
    }
    lines += best.map {
      "the larger night's own work\($0.strikes ? " with faults" : "") comes to \($0.ownEditsPerSecond) edits a "
        + "second, at its best"
    }
    if let growth {
      lines.append("the larger night takes \(Self.decimal(growth)) times the memory")
    }
    return (lines + [""] + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The same for a machine.
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
