import JSON
import MobileSync

extension PipelineReader {
  /// A valid key that has no effect in this version.
  private struct Absent {
    let path: [String]
    let what: String

    init(_ path: String, what: String) {
      self.path = path.split(separator: ".").map(String.init)
      self.what = what
    }
  }

  /// The planned keys that are not implemented.
  ///
  /// Each is refused at its location rather than ignored.
  private static let absent = [
    Absent("limits.memoryMiB", what: "a memory limit")
  ]

  /// Returns the file without the keys that are not implemented, and records each of them.
  mutating func withoutAbsent(_ root: JSONNode) -> JSONNode {
    var rest = root
    for key in Self.absent {
      guard let node = key.path.reduce(root, { $0?[$1] }) else { continue }
      if !node.isNull { refuse(node, key.what) }
      rest = rest.removing(key.path[...])
    }
    return rest
  }

  private mutating func refuse(_ node: JSONNode?, _ what: String) {
    notYet.append(
      Problem(
        file: reader.file, line: node?.line ?? 0, column: node?.column ?? 0,
        path: node?.path ?? "", message: "not yet: \(what) does not exist in this version",
        fix: "remove it"))
  }
}
