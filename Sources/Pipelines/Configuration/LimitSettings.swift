import JSON

/// What a run may use of the machine.
package struct LimitSettings: Sendable, Hashable {
  /// The space that must be free on the disk.
  package var freeDiskMiB = 2048
  /// The snapshots that are worked on at once, while others wait for the org, and the returns that are read at once.
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
