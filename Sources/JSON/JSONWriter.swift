/// Appends JSON text to bytes; it puts the commas itself.
package struct JSONWriter: Sendable {
  /// What has been written so far.
  package var bytes: [UInt8] = []
  private var needsComma = false

  /// Starts with nothing.
  package init(reserving capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  private mutating func separate() {
    if needsComma { bytes.append(0x2C) }
    needsComma = true
  }

  /// Opens an object.
  package mutating func beginObject() {
    separate()
    bytes.append(0x7B)
    needsComma = false
  }

  /// Closes the object.
  package mutating func endObject() {
    bytes.append(0x7D)
    needsComma = true
  }

  /// Opens an array.
  package mutating func beginArray() {
    separate()
    bytes.append(0x5B)
    needsComma = false
  }

  /// Closes the array.
  package mutating func endArray() {
    bytes.append(0x5D)
    needsComma = true
  }

  /// Names the member whose value comes next.
  package mutating func name(_ name: String) {
    separate()
    JSONText.appendQuoted(name, to: &bytes)
    bytes.append(0x3A)
    needsComma = false
  }

  /// Writes a string.
  package mutating func string(_ string: String) {
    separate()
    JSONText.appendQuoted(string, to: &bytes)
  }

  /// Writes bytes that are a whole JSON value already.
  package mutating func raw(_ value: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
  }

  /// Writes an integer.
  package mutating func number(_ number: some BinaryInteger) {
    separate()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Writes a number; what JSON cannot say (infinity, NaN) becomes null.
  package mutating func number(_ number: Double) {
    separate()
    bytes.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
  }

  /// Writes true or false.
  package mutating func bool(_ bool: Bool) {
    separate()
    bytes.append(contentsOf: (bool ? "true" : "false").utf8)
  }

  /// Writes null.
  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a tree.
  package mutating func value(_ value: JSONValue) {
    separate()
    value.append(to: &bytes)
  }
}
