import JSON

/// What is written about a run.
package struct ReportSettings: Sendable, Hashable {
  /// The formats of a report.
  package enum Format: String, Sendable, Hashable, CaseIterable {
    case html, json, csv
  }

  /// The formats that are written.
  package var formats = Format.allCases
  /// The fields whose values are hidden.
  package var mask: [String] = []
  /// Whether values are shown at all.
  package var showValues = true
  /// The file that takes the run's figures; nil for none.
  package var metricsFile: String?

  static let keys = ["formats", "mask", "showValues", "metricsFile"]

  init() {}

  init(_ object: ConfigurationObject) {
    formats = object.words("formats", "a format of reports", default: formats)
    mask = object.strings("mask") ?? mask
    showValues = object.bool("showValues", default: showValues)
    metricsFile = object.text("metricsFile")
    if let path = metricsFile, !path.hasPrefix("/"), let node = object["metricsFile"] {
      object.reader.report(
        node, "the metrics file is not a whole path, and cron starts in the home directory",
        "write it from / on: \"/…/\(path)\"")
    }
  }

  var json: JSONValue {
    JSONObject.of([
      ("formats", .array(formats.map { .string($0.rawValue) })), ("mask", JSONValue(mask)),
      ("showValues", JSONValue(showValues)), ("metricsFile", metricsFile.map(JSONValue.string)),
    ])
  }
}
