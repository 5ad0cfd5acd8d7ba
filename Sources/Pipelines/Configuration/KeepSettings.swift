import JSON

/// How long things are kept.
package struct KeepSettings: Sendable, Hashable {
  /// The generations of a snapshot.
  package var generations = 3
  /// The days of a base, which outlives its generation.
  package var basesDays = 60
  /// The days of a return.
  package var returnedDays = 90
  /// The days of a run and its report.
  package var runsDays = 400

  static let keys = ["generations", "basesDays", "returnedDays", "runsDays"]

  init() {}

  init(_ object: ConfigurationObject) {
    generations = object.int("generations", default: generations, in: 1...1000)
    basesDays = object.int("basesDays", default: basesDays, in: 1...36500)
    returnedDays = object.int("returnedDays", default: returnedDays, in: 1...36500)
    runsDays = object.int("runsDays", default: runsDays, in: 1...36500)
  }

  var json: JSONValue {
    [
      "generations": JSONValue(generations), "basesDays": JSONValue(basesDays),
      "returnedDays": JSONValue(returnedDays), "runsDays": JSONValue(runsDays),
    ]
  }
}
