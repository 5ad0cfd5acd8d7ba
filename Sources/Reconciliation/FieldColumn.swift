import JSON

/// A column of the tables that compare the sides of an edit's fields, in the report and on the review page.
package enum FieldColumn: String, Sendable, CaseIterable {
  /// What the device had been given.
  case base
  /// What the device made of it.
  case device
  /// What a person entered in its place.
  case entered
  /// What the org holds.
  case server

  /// The head of the column.
  package var title: String {
    switch self {
    case .base: "Given to the device"
    default: label
    }
  }

  /// What stands before each value where the table is too wide for the window.
  package var label: String {
    switch self {
    case .base: "Given"
    case .device: "Device"
    case .entered: "Entered"
    case .server: "Org"
    }
  }

  /// Title and label of every column, by its name, for the pages' scripts.
  package static let json = JSONValue.object(
    allCases.reduce(into: [:]) {
      $0[$1.rawValue] = ["title": .string($1.title), "label": .string($1.label)]
    })
}
