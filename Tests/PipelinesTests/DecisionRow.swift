import Ledger

/// The history of one record from its edit on a device to the last verdict: a row of `DecisionTable`.
struct DecisionRow: Sendable {
  enum Setting: String, Sendable, CaseIterable {
    case plain
    case merging
    /// Creates whose outcome is unknown for a time.
    case doubted
    /// Records that were created twice; runs that retry them.
    case twice, retried
    case integration
    case guarded
    /// Requests without an answer that arrive later, and others that never do.
    case late, lost
    /// A field is removed from the field list, and added again.
    case unlisted

    func change(_ text: String) -> String {
      func reconciling(_ settings: String) -> String {
        text.replacing("\"reconcile\": {", with: "\"reconcile\": { \(settings), ")
      }
      switch self {
      case .plain:
        return text.replacing("usersyncs.json\"", with: "usersyncs.json\", \(Self.named)")
      case .merging: return reconciling("\"mode\": \"mergeFields\"")
      case .doubted, .twice, .retried:
        return text.replacing(
          "\"unansweredWaitSeconds\": 0", with: "\"unansweredWaitSeconds\": 900")
      case .integration:
        return reconciling("\"sendAs\": \"integration\"").replacing(
          "\"scope\": \"global\",", with: "\"scope\": \"global\", \"reconcile\": [],")
      case .guarded: return reconciling("\"maxChanges\": {\"perSnapshot\": 1}")
      case .late, .lost: return reconciling("\"conditionalUpdates\": false")
      case .unlisted: return text
      }
    }

    /// The syncs of the plain pipeline, without work orders.
    static let named = #""reconcile": ["syncUpContacts", "syncUpAccounts"]"#
  }

  /// A verdict, and a decision about it.
  struct Way: Hashable, CustomStringConvertible {
    var verdict: Verdict
    var kind: Decision.Kind
    var description: String { "\(verdict.rawValue): \(kind.option)" }
  }

  let setting: Setting
  let name: String
  var steps: [DecisionStep] = []
  var phones: Set<DecisionStep.Phone> { Set(steps.compactMap(\.phone)) }

  /// The decisions that resolve an edit at once, by the verdict that it had.
  var ways: Set<Way> {
    var (ways, last): (Set<Way>, [Verdict]) = ([], [])
    var decided: [Int: Way] = [:]
    for step in steps {
      if let kind = step.decision { decided[step.edit] = Way(verdict: last[step.edit], kind: kind) }
      guard let verdicts = step.verdicts else { continue }
      for (place, way) in decided where verdicts[place].isSettled { ways.insert(way) }
      (last, decided) = (verdicts, [:])
    }
    return ways
  }
}
