/// The SDK's projection of a dotted path into an element.
package enum JSONProjection {
  /// The value that `path` leads to.
  ///
  /// An array on the way is mapped: elements without a value are dropped, an empty result is no
  /// value. A scalar on the way has no members. An empty path is the whole element. A member whose
  /// name contains a dot cannot be reached.
  package static func project(_ path: String, from value: JSONValue) -> JSONValue? {
    guard !path.isEmpty else { return value }
    return project(components(path)[...], from: value)
  }

  /// The member names on the way.
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
