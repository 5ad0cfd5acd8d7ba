import TestSupport

struct KillPoint: CustomStringConvertible {
  enum Event: String, CaseIterable {
    case calls
    /// Calls that create, rename, remove or sync files.
    case names
    /// Calls that send to the org or to a store.
    case sends
    case requests
    /// Requests that change records.
    case writes
  }

  enum Moment {
    /// It is not done.
    case before
    /// It is done, and nothing else. Of a request, the answer has not been sent.
    case after
    case later(nanoseconds: Int)
  }

  let event: Event
  let number: Int
  let moment: Moment

  /// The kind, for counting.
  var sort: String {
    switch moment {
    case .before: "before \(event)"
    case .after: "after \(event)"
    case .later: "some time after \(event)"
    }
  }

  var description: String {
    if case .later(let nanoseconds) = moment { return "\(nanoseconds) ns after \(event) \(number)" }
    return "\(sort) \(number)"
  }

  var environment: [String: String] {
    switch event {
    case .calls, .names, .sends: break
    case .requests, .writes: return [:]
    }
    var environment = ["KILL_AT": String(number), "KILL_OF": event.rawValue]
    switch moment {
    case .before: environment["KILL_SIDE"] = "before"
    case .after: environment["KILL_SIDE"] = "after"
    case .later(let nanoseconds):
      environment["KILL_SIDE"] = "later"
      environment["KILL_NS"] = String(nanoseconds)
    }
    return environment
  }

  /// A random point in the `part`-th of `parts` equal parts of a stage with so many events, so that
  /// the points are spread over it.
  ///
  /// The kinds of events take turns.
  static func random(
    part: Int, of parts: Int, counts: [Event: Int], using dice: inout HistoryRandom
  ) -> KillPoint {
    let events = Event.allCases.filter { counts[$0, default: 0] > 0 }
    let event = parts > 1 ? events[part % events.count] : events[dice.below(events.count)]
    let count = counts[event, default: 0]
    let low = part * count / parts
    let high = max(low + 1, (part + 1) * count / parts)
    let number = low + 1 + dice.below(high - low)
    let isRequest = event == .requests || event == .writes
    let moment: Moment
    switch dice.below(isRequest ? 3 : 6) {
    case 0: moment = .before
    case 1, 2: moment = .after
    default:
      // Up to a microsecond or a millisecond, each order of magnitude with the same probability.
      let bound = [1000, 10_000, 100_000, 1_000_000][dice.below(4)]
      moment = .later(nanoseconds: dice.below(bound))
    }
    return KillPoint(event: event, number: number, moment: moment)
  }
}
