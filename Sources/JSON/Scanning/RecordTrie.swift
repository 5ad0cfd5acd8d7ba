/// The members to look for, as a tree of names: `RecordScanner` compiles its paths to it.
///
/// The tree is stored in four flat arrays, so that a scan follows pointers without reference
/// counting.
struct RecordTrie: Sendable {
  /// A member name below a node.
  struct Child: Sendable, BitwiseCopyable {
    /// The first eight bytes of the name, little-endian, padded with zeros.
    let head: UInt64
    let length: Int
    /// The offset of the name in `names`.
    let name: Int
    let node: Int
  }

  /// A value that is requested, or that contains requested members.
  struct Node: Sendable {
    var children = 0..<0
    /// The lengths of the child names: bit `length & 63` is set for each.
    ///
    /// Most members are skipped by this check.
    var lengths: UInt64 = 0
    /// The results that this value provides, as a range of `slots`.
    var slots = 0..<0
    /// The results of the paths that continue below this value, as a range of `slots`.
    var below = 0..<0
  }

  private(set) var nodes: [Node] = []
  private(set) var children: [Child] = []
  private(set) var names: [UInt8] = []
  private(set) var slots: [Int] = []

  init(paths: [String]) {
    let split = paths.enumerated().map { slot, path in
      (slot, path.isEmpty ? [] : JSONProjection.components(path).map { Array($0.utf8) })
    }
    nodes.append(Node())
    fill(0, split)
  }

  /// Builds a node.
  ///
  /// `rest` has the results below it, each with the rest of its path.
  private mutating func fill(_ node: Int, _ rest: [(slot: Int, path: [[UInt8]])]) {
    nodes[node].slots = append(rest.filter(\.path.isEmpty).map(\.slot))
    nodes[node].below = append(rest.filter { !$0.path.isEmpty }.map(\.slot))
    var groups: [(name: [UInt8], rest: [(slot: Int, path: [[UInt8]])])] = []
    for (slot, path) in rest {
      guard let name = path.first else { continue }
      let next = (slot, Array(path.dropFirst()))
      if let known = groups.firstIndex(where: { $0.name == name }) {
        groups[known].rest.append(next)
      } else {
        groups.append((name, [next]))
      }
    }
    let first = children.count
    for group in groups {
      children.append(
        Child(
          head: Self.head(group.name), length: group.name.count, name: names.count,
          node: nodes.count))
      names += group.name
      nodes.append(Node())
      nodes[node].lengths |= 1 << UInt64(group.name.count & 63)
    }
    nodes[node].children = first..<children.count
    for (place, group) in groups.enumerated() { fill(children[first + place].node, group.rest) }
  }

  private mutating func append(_ found: [Int]) -> Range<Int> {
    slots += found
    return slots.count - found.count..<slots.count
  }

  private static func head(_ name: [UInt8]) -> UInt64 {
    var head: UInt64 = 0
    for (place, byte) in name.prefix(8).enumerated() { head |= UInt64(byte) << UInt64(place * 8) }
    return head
  }

  /// Calls `body` with the arrays as pointers.
  func withView<R, E: Error>(_ body: (View) throws(E) -> R) throws(E) -> R {
    try nodes.withUnsafeBufferPointer { nodes throws(E) in
      try children.withUnsafeBufferPointer { children throws(E) in
        try names.withUnsafeBufferPointer { names throws(E) in
          try slots.withUnsafeBufferPointer { slots throws(E) in
            try body(View(nodes: nodes, children: children, names: names, slots: slots))
          }
        }
      }
    }
  }

  /// The arrays as pointers, valid only inside `withView`.
  struct View {
    let nodes: UnsafeBufferPointer<Node>
    let children: UnsafeBufferPointer<Child>
    let names: UnsafeBufferPointer<UInt8>
    let slots: UnsafeBufferPointer<Int>

    /// The child of `node` for the unescaped name at `start..<end`; -1 if there is none.
    @inline(__always)
    func find(_ node: Int, _ cursor: JSONCursor, _ start: Int, _ end: Int) -> Int {
      let length = end &- start
      guard nodes[node].lengths &>> UInt64(truncatingIfNeeded: length & 63) & 1 != 0 else {
        return -1
      }
      var head: UInt64 = 0
      // Eight bytes are available except at the very end of a page: at least a quote and a colon
      // follow a name.
      if start &+ 8 <= cursor.count {
        head = UInt64(
          littleEndian: cursor.base.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        if length < 8 { head &= (1 &<< UInt64(truncatingIfNeeded: length &* 8)) &- 1 }
      } else {
        for place in 0..<min(length, 8) {
          head |= UInt64(cursor.byte(start &+ place)) &<< UInt64(truncatingIfNeeded: place &* 8)
        }
      }
      for place in nodes[node].children {
        let child = children[place]
        guard child.head == head, child.length == length else { continue }
        if length <= 8 || matches(child, cursor, start) { return child.node }
      }
      return -1
    }

    private func matches(_ child: Child, _ cursor: JSONCursor, _ start: Int) -> Bool {
      for place in 8..<child.length
      where names[child.name &+ place] != cursor.byte(start &+ place) {
        return false
      }
      return true
    }

    /// The child for a name with escapes.
    func find(_ node: Int, escaped name: String) -> Int {
      let bytes = Array(name.utf8)
      for place in nodes[node].children {
        let child = children[place]
        if bytes.elementsEqual(names[child.name..<child.name + child.length]) { return child.node }
      }
      return -1
    }
  }
}
