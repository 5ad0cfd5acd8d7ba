import JSON
import Reports

/// The reports of a run.
package struct ReportSettings: Sendable, Hashable {
  /// The formats of a report.
  package enum Format: String, Sendable, Hashable, CaseIterable {
    case html, json, csv
  }

  package var formats = Format.allCases
  /// The fields whose values are masked.
  package var mask: [String] = []
  /// Whether values are shown at all.
  package var showValues = true
  /// The absolute path of the metrics file for Prometheus; nil for none.
  package var metricsFile: String?

  static let keys = ["formats", "mask", "showValues", "metricsFile"]

  init() {}

  init(_ object: ConfigurationObject) {
    formats = object.words("formats", "a report format", default: formats)
    mask = object.strings("mask") ?? mask
    showValues = object.bool("showValues", default: showValues)
    metricsFile = object.text("metricsFile")
    if let metricsFile, let node = object["metricsFile"],
      !metricsFile.hasPrefix("/") || !metricsFile.hasSuffix(".prom")
    {
      object.reader.report(
        node, "\(JSONText.quoted(metricsFile)) is not a file that node exporter reads",
        "write an absolute path that ends with .prom")
    }
  }

  /// The mask for record values in all output.
  package var reportMask: ReportMask { ReportMask(mask: Set(mask), showValues: showValues) }

  var json: JSONValue {
    JSONObject.of([
      ("formats", .array(formats.map { .string($0.rawValue) })), ("mask", JSONValue(mask)),
      ("showValues", JSONValue(showValues)), ("metricsFile", metricsFile.map(JSONValue.string)),
    ])
  }
}
