import Foundation
import JSON

/// The part of JSON Schema 2020-12 that the schemas in `docs/` use.
package struct JSONSchema {
  package let root: JSONValue
  package init(root: JSONValue) { self.root = root }

  /// Creates a schema from a file in `docs/`.
  package init(published name: String) throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "docs/" + name)
    root = try JSONValue(parsing: Array(Data(contentsOf: file)))
  }

  /// The violations of the schema in `value`, one per line.
  package func faults(_ value: JSONValue) -> [String] { faults(value, root, "") }

  /// The schema that `$ref` refers to, with the other members of the reference kept.
  package func resolved(_ schema: JSONValue) -> JSONValue {
    guard let reference = schema["$ref"]?.string else { return schema }
    var target: JSONValue? = root
    for part in reference.split(separator: "/").dropFirst() { target = target?[String(part)] }
    var object = target?.object ?? JSONObject()
    for (name, value) in schema.object ?? JSONObject() where name != "$ref" { object[name] = value }
    return .object(object)
  }

  private func faults(_ value: JSONValue, _ unresolved: JSONValue, _ path: String) -> [String] {
    let schema = resolved(unresolved)
    var faults: [String] = []
    func expect(_ holds: Bool, _ what: String) { if !holds { faults.append("\(path): \(what)") } }
    if let type = schema["type"]?.string { expect(Self.type(value, is: type), "not \(type)") }
    if let words = schema["enum"]?.array { expect(words.contains(value), "not in enum") }
    if let constant = schema["const"] { expect(constant == value, "not \(constant.text)") }
    if let number = value.double {
      if let least = schema["minimum"]?.double { expect(number >= least, "too small") }
      if let most = schema["maximum"]?.double { expect(number <= most, "too large") }
    }
    if let string = value.string {
      if let least = schema["minLength"]?.int { expect(string.count >= least, "too short") }
      if let pattern = schema["pattern"]?.string {
        let matches = string.range(of: pattern, options: .regularExpression) != nil
        expect(matches, "does not match \(pattern)")
      }
    }
    if let elements = value.array {
      if let least = schema["minItems"]?.int { expect(elements.count >= least, "too few") }
      if schema["uniqueItems"] == true {
        expect(Set(elements).count == elements.count, "not unique")
      }
      for (index, element) in elements.enumerated() {
        faults += schema["items"].map { self.faults(element, $0, "\(path)[\(index)]") } ?? []
      }
    }
    if let object = value.object { faults += members(object, schema, path) }
    faults += combined(value, schema, path)
    return faults
  }

  private func members(_ object: JSONObject, _ schema: JSONValue, _ path: String) -> [String] {
    var faults: [String] = []
    for name in schema["required"]?.array ?? [] where object[name.string ?? ""] == nil {
      faults.append("\(path): lacks \(name.text)")
    }
    if let least = schema["minProperties"]?.int, object.count < least {
      faults.append("\(path): few")
    }
    if let most = schema["maxProperties"]?.int, object.count > most {
      faults.append("\(path): many")
    }
    for (name, value) in object {
      let inner = "\(path).\(name)"
      if let property = schema["properties"]?[name] {
        faults += self.faults(value, property, inner)
      } else if schema["additionalProperties"] == false {
        faults.append("\(inner): unknown")
      } else if let other = schema["additionalProperties"], other.object != nil {
        faults += self.faults(value, other, inner)
      }
    }
    return faults
  }

  private func combined(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> [String] {
    var faults: [String] = []
    for part in schema["allOf"]?.array ?? [] {
      if let condition = part["if"], let then = part["then"] {
        if self.faults(value, condition, path).isEmpty { faults += self.faults(value, then, path) }
      }
    }
    for (key, most) in [("anyOf", Int.max), ("oneOf", 1)] {
      guard let choices = schema[key]?.array else { continue }
      let met = choices.count { self.faults(value, $0, path).isEmpty }
      if met == 0 || met > most { faults.append("\(path): \(met) of \(key) met") }
    }
    return faults
  }

  private static func type(_ value: JSONValue, is type: String) -> Bool {
    switch type {
    case "object": value.object != nil
    case "array": value.array != nil
    case "string": value.string != nil
    case "integer": value.int != nil
    case "boolean": value.bool != nil
    default: false
    }
  }
}
