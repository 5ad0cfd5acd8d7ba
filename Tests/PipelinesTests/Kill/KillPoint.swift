/// Where a process is killed.
enum KillPoint: CustomStringConvertible {
  /// Just before the n-th call that changes files or speaks to the org; it is not made.
  case before(call: Int)
  /// Just after it.
  case after(call: Int)
  /// So many nanoseconds after it, whatever is done then.
  case later(call: Int, nanoseconds: Int)
  /// When the org gets the n-th request, before it looks at it.
  case asked(request: Int)
  /// When the org has done what the n-th request asks, before it answers.
  case answered(request: Int)

  /// One word for the sort, for the count of them.
  var sort: String {
    switch self {
    case .before: "before a call"
    case .after: "after a call"
    case .later: "between calls"
    case .asked: "before a request is seen"
    case .answered: "before a request is answered"
    }
  }

  var description: String {
    switch self {
    case .before(let call), .after(let call): "\(sort) (\(call))"
    case .later(let call, let nanoseconds): "\(sort) (\(call) and \(nanoseconds) ns)"
    case .asked(let request), .answered(let request): "\(sort) (\(request))"
    }
  }

  /// What the shim reads.
  var environment: [String: String] {
    switch self {
    case .before(let call): ["KILL_AT": String(call), "KILL_SIDE": "before"]
    case .after(let call): ["KILL_AT": String(call), "KILL_SIDE": "after"]
    case .later(let call, let nanoseconds):
      ["KILL_AT": String(call), "KILL_SIDE": "later", "KILL_NS": String(nanoseconds)]
    case .asked, .answered: [:]
    }
  }

  /// A random point in the `part`-th of `parts` equal parts of a stage that makes so many calls and
  /// requests, so that the points lie all over it.
  static func random(
    part: Int, of parts: Int, calls: Int, requests: Int, using dice: inout Dice
  ) -> KillPoint {
    func pick(_ count: Int) -> Int {
      let low = part * count / parts
      let high = max(low + 1, (part + 1) * count / parts)
      return low + 1 + Int(dice.next() % UInt64(high - low))
    }
    let call = pick(calls)
    switch dice.next() % (requests > 0 ? 12 : 9) {
    case 0, 1, 2: return .before(call: call)
    case 3, 4: return .after(call: call)
    case 5, 6, 7, 8:
      // From a microsecond to a millisecond, each order of magnitude as likely.
      let bound = [1000, 10_000, 100_000, 1_000_000][Int(dice.next() % 4)]
      return .later(call: call, nanoseconds: Int(dice.next() % UInt64(bound)))
    case 9: return .asked(request: pick(requests))
    default: return .answered(request: pick(requests))
    }
  }
}

/// Random numbers that a seed repeats.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
