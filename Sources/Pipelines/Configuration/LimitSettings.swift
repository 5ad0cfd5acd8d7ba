import JSON

/// The machine resources that a run may use.
package struct LimitSettings: Sendable, Hashable {
  /// The free disk space that a run requires.
  package var freeDiskMiB = 2048
  /// The number of snapshots processed at the same time, while others wait for the org, and of
  /// returns read at the same time.
  package var jobs = 2

  static let keys = ["freeDiskMiB", "jobs"]

  init() {}

  init(_ object: ConfigurationObject) {
    freeDiskMiB = object.int("freeDiskMiB", default: freeDiskMiB)
    jobs = object.int("jobs", default: jobs, in: 1...1024)
  }

  var json: JSONValue {
    ["freeDiskMiB": JSONValue(freeDiskMiB), "jobs": JSONValue(jobs)]
  }
}
