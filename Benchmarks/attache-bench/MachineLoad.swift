import JSON
import System

/// What else was at work: how many wanted a core, in the mean of a minute, before the first round and after each.
struct MachineLoad {
  private var means: [String] = []

  /// Begins with the load of now.
  init() { note() }

  /// Notes the load of now.
  mutating func note() {
    let words = (try? Files.read("/proc/loadavg")) ?? []
    means.append(String(decoding: words.prefix { $0 != 0x20 }, as: UTF8.self))
  }

  var text: String { "The load of the machine was \(means.joined(separator: ", "))." }

  var json: JSONValue { .array(means.map { .string($0) }) }
}
