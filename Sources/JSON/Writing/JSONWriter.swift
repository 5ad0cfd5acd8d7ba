/// Appends JSON text to bytes and inserts the commas.
package struct JSONWriter: Sendable {
  /// The text written so far.
  package var bytes: [UInt8] = []
  private var needsComma = false

  package init(reserving capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  private mutating func separate() {
    if needsComma { bytes.append(0x2C) }
    needsComma = true
  }

  package mutating func beginObject() {
    separate()
    bytes.append(0x7B)
    needsComma = false
  }

  package mutating func endObject() {
    bytes.append(0x7D)
    needsComma = true
  }

  package mutating func beginArray() {
    separate()
    bytes.append(0x5B)
    needsComma = false
  }

  package mutating func endArray() {
    bytes.append(0x5D)
    needsComma = true
  }

  /// Writes the name of the member whose value follows.
  package mutating func name(_ name: String) {
    separate()
    JSONText.appendQuoted(name, to: &bytes)
    bytes.append(0x3A)
    needsComma = false
  }

  package mutating func string(_ string: String) {
    separate()
    JSONText.appendQuoted(string, to: &bytes)
  }

  /// Writes bytes that are already a whole JSON value.
  package mutating func raw(_ value: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
  }

  package mutating func number(_ number: some BinaryInteger) {
    separate()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Writes a number.
  ///
  /// Infinity and NaN, which JSON does not have, become null.
  package mutating func number(_ number: Double) {
    separate()
    bytes.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
  }

  package mutating func bool(_ bool: Bool) {
    separate()
    bytes.append(contentsOf: (bool ? "true" : "false").utf8)
  }

  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  package mutating func value(_ value: JSONValue) {
    separate()
    value.append(to: &bytes)
  }
}
