import LocalOrg
import System

/// The requests of a history's runs that change records, in the order in which they arrived.
///
/// It has lost requests as well, but none of a killed run, whose process would not have sent them.
final class WriteTrace: Sendable {
  private let state = Locked((step: 0, lines: [String]()))

  func begin(step: Int) { state.withLock { $0.step = step } }

  func add(_ request: ReceivedRequest) {
    let conditions = request.headers.filter {
      $0.name.hasPrefix("if-") || $0.name.hasPrefix("sforce-")
    }
    let body = String(decoding: request.body, as: UTF8.self)
    state.withLock { state in
      state.lines.append(
        "step \(state.step): \(request.method) \(request.target) as \(request.user ?? "nobody")")
      state.lines += conditions.map { "  \($0.name): \($0.value)" }
      if !body.isEmpty { state.lines.append("  " + body) }
    }
  }

  var text: String { state.withLock { $0.lines.map { $0 + "\n" }.joined() } }
}
