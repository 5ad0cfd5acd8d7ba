import JSON

/// One field with the values of all sides.
package struct FieldDifference: Sendable, Hashable {
  /// The field's name.
  package var name: String
  /// What the device was given; nil when there is no base.
  package var base: JSONValue?
  /// What the device holds.
  package var device: JSONValue?
  /// What the org holds; nil when it was not read.
  package var server: JSONValue?
  /// Says that the device and the org changed it to different values.
  package var isConflicting: Bool

  /// A difference.
  package init(
    name: String, base: JSONValue?, device: JSONValue?, server: JSONValue?,
    isConflicting: Bool = false
  ) {
    self.name = name
    self.base = base
    self.device = device
    self.server = server
    self.isConflicting = isConflicting
  }
}
