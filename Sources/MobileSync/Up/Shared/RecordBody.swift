import JSON

/// The members of an element that are sent to the org.
///
/// Values are the element's own bytes: a number keeps its literal, a string its escapes. A missing
/// member is omitted, null is sent as null, and a dotted path is sent under that path.
package struct RecordBody: Sendable {
  private let names: [String]
  private let scanner: RecordScanner

  package init(fields names: [String]) {
    self.names = names
    scanner = RecordScanner(paths: names)
  }

  /// Writes the fields of an element as members of the object that is open in `writer`.
  package func append(_ element: [UInt8], to writer: inout JSONWriter) throws(JSONError) {
    for (name, value) in try members(of: element) {
      writer.name(name)
      writer.raw(value)
    }
  }

  /// Returns the fields of an element as a tree.
  package func object(of element: [UInt8]) throws(JSONError) -> JSONObject {
    var object = JSONObject()
    for (name, value) in try members(of: element) {
      object[name] = try JSONValue(parsing: Array(value))
    }
    return object
  }

  /// Returns the fields of an element as a tree, by field name.
  package static func fields(
    _ names: [String], of element: [UInt8]
  ) throws(JSONError) -> JSONObject {
    try RecordBody(fields: names).object(of: element)
  }

  private func members(of element: [UInt8]) throws(JSONError) -> [(name: String, value: [UInt8])] {
    var failure: JSONError?
    let members = element.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(of: JSONSpan.self, capacity: max(1, names.count)) { buffer in
        let spans = UnsafeMutableBufferPointer(rebasing: buffer[..<names.count])
        spans.initialize(repeating: .missing)
        do throws(JSONError) {
          try scanner.scan(record: bytes, into: spans)
          var members: [(name: String, value: [UInt8])] = []
          for (name, span) in zip(names, spans) {
            if let value = try value(span, name, in: bytes) { members.append((name, value)) }
          }
          return members
        } catch {
          failure = error
          return []
        }
      }
    }
    if let failure { throw failure }
    return members
  }

  private func value(
    _ span: JSONSpan, _ name: String, in element: UnsafeRawBufferPointer
  ) throws(JSONError) -> [UInt8]? {
    switch span.kind {
    case .missing: return nil
    case .null: return Array("null".utf8)
    case .true: return Array("true".utf8)
    case .false: return Array("false".utf8)
    case .string, .escapedString:
      return [0x22] + element[span.range] + [0x22]
    case .array where name.contains("."):
      // The path may lead through an array, in which case its value is found there.
      let whole = try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: element[...]))
      return JSONProjection.project(name, from: whole)?.bytes
    case .number, .array, .object: return Array(element[span.range])
    }
  }
}
