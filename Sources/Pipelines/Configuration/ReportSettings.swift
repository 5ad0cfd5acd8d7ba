import JSON
import Reconciliation

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
  /// The file of the last run's figures for Prometheus, by its whole path; nil for none.
  package var metricsFile: String?

  static let keys = ["formats", "mask", "showValues", "metricsFile"]

  init() {}

  init(_ object: ConfigurationObject) {
    formats = object.words("formats", "a format of reports", default: formats)
    mask = object.strings("mask") ?? mask
    showValues = object.bool("showValues", default: showValues)
    metricsFile = object.text("metricsFile")
    if let metricsFile, let node = object["metricsFile"],
      !metricsFile.hasPrefix("/") || !metricsFile.hasSuffix(".prom")
    {
      object.reader.report(
        node, "\(JSONText.quoted(metricsFile)) is no file that node exporter reads",
        "write its whole path, ending with .prom")
    }
  }

  /// What it lets be shown of records, wherever that is.
  package var reportMask: ReportMask { ReportMask(mask: Set(mask), showValues: showValues) }

  var json: JSONValue {
    JSONObject.of([
      ("formats", .array(formats.map { .string($0.rawValue) })), ("mask", JSONValue(mask)),
      ("showValues", JSONValue(showValues)), ("metricsFile", metricsFile.map(JSONValue.string)),
    ])
  }
}
