import JSON

/// A column of the tables that compare an edit's fields, in the report and on the review page.
package enum FieldColumn: String, Sendable, CaseIterable {
  /// The value that the device was issued.
  case base
  /// The value on the device.
  case device
  /// The value that an operator entered.
  case entered
  /// The value in the org.
  case server
  /// The value that a sent edit replaced in the org.
  case replaced

  package var title: String {
    switch self {
    case .base: "Issued to device"
    default: label
    }
  }

  /// The label of each value if the table is too wide for the window.
  package var label: String {
    switch self {
    case .base: "Issued"
    case .device: "Device"
    case .entered: "Entered"
    case .server: "Org"
    case .replaced: "Org before"
    }
  }

  /// The title and label of every column, by name, for the pages' scripts.
  package static let json = JSONValue.object(
    allCases.reduce(into: [:]) {
      $0[$1.rawValue] = ["title": .string($1.title), "label": .string($1.label)]
    })
}
