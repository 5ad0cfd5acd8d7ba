import JSON

/// The faults of all users, each problem once with the users it affects.
package struct PreflightFindings: Sendable {
  /// A problem, and the users it affects.
  package struct Finding: Sendable, Hashable {
    /// The fault: its message, location and severity.
    package var fault: Preflight.Fault
    /// The affected users; empty if it affects all of several users.
    package var users: [String] = []

    /// The message and its location.
    package var problem: Problem { fault.problem }

    /// One line.
    ///
    /// If many users are affected, it names only some of them.
    package var description: String { problem.description + named }

    /// The problem, with the users named in its message.
    package var told: Problem {
      Problem(
        file: problem.file, line: problem.line, column: problem.column, path: problem.path,
        message: problem.message + named, fix: problem.fix)
    }

    private var named: String {
      if users.isEmpty { return "" }
      let rest = users.count - 3
      let some = users.prefix(3).joined(separator: ", ")
      return " (as \(some)\(rest > 0 ? " and \(rest) more" : ""))"
    }
  }

  /// Identifies a problem regardless of the fix suggested to a user.
  private struct Key: Hashable {
    let problem: Problem
    let actor: Preflight.Actor

    init(_ problem: Problem, _ actor: Preflight.Actor) {
      self.problem = Problem(
        file: problem.file, line: problem.line, column: problem.column, path: problem.path,
        message: problem.message, fix: "")
      self.actor = actor
    }
  }

  private var faults: [Key: Preflight.Fault] = [:]
  private var users: [Key: [String]] = [:]
  private var asked: [Preflight.Actor: Set<String>] = [:]

  /// Creates an empty collection.
  package init() {}

  /// Adds the faults of a user.
  ///
  /// Does nothing for a user who was added before.
  package mutating func add(
    _ faults: [Preflight.Fault], of username: String, as actor: Preflight.Actor
  ) {
    guard asked[actor, default: []].insert(username.lowercased()).inserted else { return }
    for fault in faults {
      let key = Key(fault.problem, actor)
      self.faults[key] = self.faults[key] ?? fault
      users[key, default: []].append(username)
    }
  }

  /// Whether any user was asked.
  package func hasAsked(_ actor: Preflight.Actor) -> Bool { asked[actor]?.isEmpty == false }

  /// Returns the fatal faults that affect every user asked.
  package func common(_ actor: Preflight.Actor) -> [Preflight.Fault] {
    faults.filter { $0.key.actor == actor && $0.value.isFatal && isOfAll($0.key) }.map(\.value)
  }

  /// The findings in the order of the files.
  package var findings: [Finding] {
    faults.map { key, fault in
      let isOfMany = asked[key.actor, default: []].count > 1 && isOfAll(key)
      return Finding(fault: fault, users: isOfMany ? [] : users[key, default: []].sorted())
    }.sorted {
      ($0.problem.file, $0.problem.line, $0.problem.column, $0.problem.message)
        < ($1.problem.file, $1.problem.line, $1.problem.column, $1.problem.message)
    }
  }

  private func isOfAll(_ key: Key) -> Bool {
    users[key, default: []].count == asked[key.actor, default: []].count
  }
}
