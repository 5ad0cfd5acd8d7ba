import JSON
import MobileSync

extension PipelineReader {
  /// A key that is understood and does nothing in this version.
  private struct Absent {
    let path: [String]
    let what: String

    init(_ path: String, what: String) {
      self.path = path.split(separator: ".").map(String.init)
      self.what = what
    }
  }

  /// The plan's keys that nothing reads: each is refused where it stands, instead of being passed over.
  private static let absent = [
    Absent("pack.sign", what: "signing"),
    Absent("limits.memoryMiB", what: "a limit of memory"),
  ]

  /// The file without the keys that nothing reads, each of which is noted.
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
