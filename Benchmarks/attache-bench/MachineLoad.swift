import JSON
import System

/// The machine's load: the average number of runnable processes over one minute, before the first
/// round and after each.
struct MachineLoad {
  private var means: [String] = []

  /// Starts with the current load.
  init() { note() }

  /// Adds the current load.
  mutating func note() {
    let words = (try? Files.read("/proc/loadavg")) ?? []
    means.append(String(decoding: words.prefix { $0 != 0x20 }, as: UTF8.self))
  }

  var text: String { "The machine's load was \(means.joined(separator: ", "))." }

  var json: JSONValue { .array(means.map { .string($0) }) }
}
