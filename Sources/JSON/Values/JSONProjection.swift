/// The SDK's projection of a dotted path into an element.
package enum JSONProjection {
  /// The value at `path`.
  ///
  /// An array on the path is mapped: elements without a value are omitted, and an empty result
  /// means no value. A scalar on the path has no members. An empty path means the whole element. A
  /// member whose name contains a dot cannot be reached.
  package static func project(_ path: String, from value: JSONValue) -> JSONValue? {
    guard !path.isEmpty else { return value }
    return project(components(path)[...], from: value)
  }

  /// The member names on the path.
  static func components(_ path: String) -> [String] {
    path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  private static func project(_ names: ArraySlice<String>, from value: JSONValue) -> JSONValue? {
    guard let name = names.first else { return value }
    switch value {
    case .object(let object):
      return object[name].flatMap { project(names.dropFirst(), from: $0) }
    case .array(let elements):
      let found = elements.compactMap { project(names, from: $0) }
      return found.isEmpty ? nil : .array(found)
    case .null, .bool, .number, .string:
      return nil
    }
  }
}
