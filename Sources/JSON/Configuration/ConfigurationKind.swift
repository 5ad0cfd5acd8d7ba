/// A kind of configuration file, which is recognised by one key.
package enum ConfigurationKind: String, CaseIterable {
  case pipeline = "stores"
  case store = "soups"
  case sync = "syncs"
}

extension ConfigurationReader {
  /// Reports a file of another kind; its keys would only be reported as unknown.
  ///
  /// Returns whether the file is of another kind.
  package func isOther(_ node: JSONNode, than kind: ConfigurationKind) -> Bool {
    guard node[kind.rawValue] == nil,
      let other = ConfigurationKind.allCases.first(where: { node[$0.rawValue] != nil })
    else { return false }
    report(
      node, "this is a \(other) file, not a \(kind) file", "name the \(kind) file instead")
    return true
  }
}
