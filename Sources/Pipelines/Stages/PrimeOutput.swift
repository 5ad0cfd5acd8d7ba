import JSON
import Snapshots

/// The result of priming a snapshot.
struct PrimeOutput: Sendable {
  let user: SnapshotUser
  /// The newest generation, whether this run made it or not; 0 if there is none.
  let generation: Int
  let outcome: PrimeOutcome
  /// The needs that the org does not meet for the user, but that no fetch depends on; nil if not
  /// checked.
  var lacking: [Preflight.Fault]?
  /// A digest that is the same for users who read all shared records alike; nil if not known.
  var readingClass: String?
  /// Whether the guard kept the newest generation instead of the org's answer.
  var isHeld = false
}

extension PrimeOutput {
  /// The document that the run reads, which it or a worker wrote.
  var json: JSONValue {
    var object: JSONObject = [
      "user": .string(user.id), "username": .string(user.username),
      "generation": JSONValue(generation), "outcome": outcome.json, "held": .bool(isHeld),
    ]
    object["lacking"] = lacking.map { .array($0.map(\.json)) }
    object["class"] = readingClass.map(JSONValue.string)
    return .object(object)
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    self.init(
      user: SnapshotUser(id: try reader.text("user"), username: try reader.text("username")),
      generation: try reader.integer("generation"),
      outcome: try PrimeOutcome(reader.member("outcome")))
    isHeld = try reader.flag("held")
    readingClass = try reader.optionalText("class")
    guard reader.json["lacking"] != nil else { return }
    var faults: [Preflight.Fault] = []
    for item in try reader.items("lacking") { faults.append(try Preflight.Fault(item)) }
    lacking = faults
  }
}

extension PrimeOutcome {
  /// The effect on each soup, for people.
  var primedSoups: [PrimedSoup] {
    soups.map {
      PrimedSoup(
        soup: $0.soup, fetched: $0.fetched, written: $0.written, unchanged: $0.unchanged,
        removed: $0.ghosts, total: $0.total)
    }
  }
}

extension Preflight.Fault {
  fileprivate var json: JSONValue {
    [
      "file": .string(problem.file), "line": JSONValue(problem.line),
      "column": JSONValue(problem.column), "path": .string(problem.path),
      "message": .string(problem.message), "fix": .string(problem.fix),
      "fatal": .bool(isFatal), "syncUp": .bool(isOfSyncUp), "otherCase": .bool(isInOtherCase),
    ]
  }

  fileprivate init(_ reader: MemberReader) throws(SnapshotError) {
    self.init(
      problem: Problem(
        file: try reader.string("file"), line: try reader.integer("line"),
        column: try reader.integer("column"), path: try reader.string("path"),
        message: try reader.string("message"), fix: try reader.string("fix")),
      isFatal: try reader.flag("fatal"), isOfSyncUp: try reader.flag("syncUp"),
      isInOtherCase: try reader.flag("otherCase"))
  }
}
