import JSON
import Salesforce
import System

/// What the runs of a pipeline have learned about calls with several parts, by sync.
///
/// All snapshots of a run share it: it contains no record, but the IDs at which lists are cut.
package final class WideCalls: Sendable {
  /// The kinds of responses of a sync, which differ in size.
  package enum Content: String, Sendable, CaseIterable {
    /// Records with all fields.
    case records
    /// IDs with their dates.
    case ids
    /// What has changed since the last run.
    case changes
  }

  private struct State {
    var widths: [String: CallWidth] = [:]
    var ranges: [String: IDRanges] = [:]
  }

  private let state = Locked(State())
  private let clock: @Sendable () -> UInt64

  package init(clock: @escaping @Sendable () -> UInt64 = { Clock.monotonicNanoseconds() }) {
    self.clock = clock
  }

  /// The width of a sync's calls for one kind of response.
  package func width(_ sync: String, _ content: Content) -> CallWidth {
    let name = Self.name(sync, content)
    return state.withLock { state in
      if let known = state.widths[name] { return known }
      let width = CallWidth(clock: clock)
      state.widths[name] = width
      return width
    }
  }

  /// The width of the calls that ask for the changes of all syncs of a user.
  package var ahead: CallWidth { width("", .changes) }

  /// The ranges of the IDs that a sync's query selects, by the sync and the object; nil if they are
  /// not known.
  package func ranges(_ name: String) -> IDRanges? { state.withLock { $0.ranges[name] } }

  /// Records the ranges of a sync and an object for the next users and runs.
  package func learn(_ ranges: IDRanges, of name: String) {
    state.withLock { $0.ranges[name] = ranges }
  }

  private static func name(_ sync: String, _ content: Content) -> String {
    sync + " " + content.rawValue
  }

  // MARK: stored form

  /// Creates what an earlier run has stored; what cannot be read counts as unknown.
  package convenience init(stored text: String?) {
    self.init()
    guard let text, let value = try? JSONValue(parsing: Array(text.utf8)) else { return }
    state.withLock { state in
      for (name, width) in value["widths"]?.object ?? [:] {
        // A run always tries two parts again, or a slow day would be remembered forever.
        state.widths[name] = CallWidth(
          CallWidth.Known(
            parts: max(2, Int(width["parts"]?.int ?? Int64(CallWidth.most))),
            partBytes: width["partBytes"]?.int.map { Int($0) }), clock: clock)
      }
      for (name, known) in value["ranges"]?.object ?? [:] {
        state.ranges[name] = IDRanges(
          records: Int(known["records"]?.int ?? 0),
          cuts: known["cuts"]?.array?.compactMap(\.string) ?? [])
      }
    }
  }

  /// The text that `init(stored:)` reads; nil if nothing is known.
  package var stored: String? {
    let (widths, ranges) = state.withLock { ($0.widths, $0.ranges) }
    // Short responses of an org that was never slow teach nothing.
    let known = widths.mapValues(\.known).filter { _, known in
      known.partBytes.map { $0 > 0 || known.parts < CallWidth.most } ?? false
    }
    if known.isEmpty, ranges.isEmpty { return nil }
    var stored: JSONObject = [:]
    stored["widths"] = .object(
      known.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { object, entry in
        var width: JSONObject = ["parts": JSONValue(entry.value.parts)]
        width["partBytes"] = entry.value.partBytes.map { JSONValue($0) }
        object[entry.key] = .object(width)
      })
    stored["ranges"] = .object(
      ranges.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { object, entry in
        object[entry.key] = .object([
          "records": JSONValue(entry.value.records), "cuts": JSONValue(entry.value.cuts),
        ])
      })
    return JSONValue.object(stored).text
  }
}
