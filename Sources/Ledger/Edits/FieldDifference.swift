import JSON

/// One field with its value on each side.
package struct FieldDifference: Sendable, Hashable {
  package var name: String
  /// The value that the device was issued; nil if there is no base.
  package var base: JSONValue?
  /// The value on the device.
  package var device: JSONValue?
  /// The value that an operator entered instead of the device's; nil if there is none.
  package private(set) var entered: JSONValue?
  /// The value in the org; nil if it was not read.
  package var server: JSONValue?
  /// Whether the device and the org changed the field to different values.
  package var isConflicting: Bool

  /// The value to send if the field is sent: an operator's value takes precedence over the
  /// device's.
  package var sent: JSONValue? { entered ?? device }

  package init(
    name: String, base: JSONValue?, device: JSONValue?, entered: JSONValue? = nil,
    server: JSONValue?,
    isConflicting: Bool = false
  ) {
    self.name = name
    self.base = base
    self.device = device
    self.entered = entered
    self.server = server
    self.isConflicting = isConflicting
  }

  /// The same field with a value that an operator entered.
  ///
  /// The device's own value does not count as entered.
  package func entering(_ value: JSONValue) -> FieldDifference {
    var field = self
    field.entered = value == device ? nil : value
    return field
  }
}
