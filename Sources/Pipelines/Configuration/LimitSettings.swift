import JSON

/// What a run may use of the machine.
package struct LimitSettings: Sendable, Hashable {
  /// The space that must be free on the disk.
  package var freeDiskMiB = 2048
  /// The bundles in work at once; nil for one a core.
  package var jobs: Int?

  static let keys = ["freeDiskMiB", "jobs"]

  init() {}

  init(_ object: ConfigurationObject) {
    freeDiskMiB = object.int("freeDiskMiB", default: freeDiskMiB)
    jobs = object.optionalInt("jobs", in: 1...1024)
  }

  var json: JSONValue {
    JSONObject.of([
      ("freeDiskMiB", JSONValue(freeDiskMiB)), ("jobs", jobs.map { JSONValue($0) }),
    ])
  }
}
