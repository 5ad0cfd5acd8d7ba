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

  static let keys = ["formats", "mask", "showValues"]

  init() {}

  init(_ object: ConfigurationObject) {
    formats = object.words("formats", "a format of reports", default: formats)
    mask = object.strings("mask") ?? mask
    showValues = object.bool("showValues", default: showValues)
  }

  /// What it lets be shown of records, wherever that is.
  package var reportMask: ReportMask { ReportMask(mask: Set(mask), showValues: showValues) }

  var json: JSONValue {
    [
      "formats": .array(formats.map { .string($0.rawValue) }), "mask": JSONValue(mask),
      "showValues": JSONValue(showValues),
    ]
  }
}
