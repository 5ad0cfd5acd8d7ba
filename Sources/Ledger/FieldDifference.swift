import JSON

/// One field with the values of all sides.
package struct FieldDifference: Sendable, Hashable {
  /// The field's name.
  package var name: String
  /// What the device was given; nil when there is no base.
  package var base: JSONValue?
  /// What the device holds.
  package var device: JSONValue?
  /// What a person has entered in the place of the device's value; nil where nobody has.
  package private(set) var entered: JSONValue?
  /// What the org holds; nil when it was not read.
  package var server: JSONValue?
  /// Says that the device and the org changed it to different values.
  package var isConflicting: Bool

  /// What is sent, where the field is: what a person has entered goes before what the device holds.
  package var sent: JSONValue? { entered ?? device }

  /// A difference.
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

  /// The same field with a value that a person has entered; the device's own value is no other one.
  package func entering(_ value: JSONValue) -> FieldDifference {
    var field = self
    field.entered = value == device ? nil : value
    return field
  }
}
