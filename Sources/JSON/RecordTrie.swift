/// The members to look for, as a tree of names: what `RecordScanner` compiles its paths to.
///
/// The tree is kept in four flat arrays, so that a scan walks it by pointers, without counting
/// references.
struct RecordTrie: Sendable {
  /// One member name below a node.
  struct Child: Sendable, BitwiseCopyable {
    /// The name's first eight bytes, little-endian, padded with zeros.
    let head: UInt64
    let length: Int
    /// Where the name begins in `names`.
    let name: Int
    let node: Int
  }

  /// A value that is wanted, or that something below it is wanted of.
  struct Node: Sendable {
    var children = 0..<0
    /// Bit `length & 63` is set when a child's name has that length: most members are passed over
    /// by it.
    var lengths: UInt64 = 0
    /// The results that this value itself answers, in `slots`.
    var slots = 0..<0
    /// The results of the paths that go on below this value, in `slots`.
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

  /// Lays out a node: `rest` are the results below it with what is left of their paths.
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

  /// Lends the arrays for the time of a scan.
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

  /// The arrays as pointers; valid inside `withView` only.
  struct View {
    let nodes: UnsafeBufferPointer<Node>
    let children: UnsafeBufferPointer<Child>
    let names: UnsafeBufferPointer<UInt8>
    let slots: UnsafeBufferPointer<Int>

    /// The node of the member of `node` whose name stands, without escapes, at `start..<end`; -1
    /// when none.
    @inline(__always)
    func find(_ node: Int, _ cursor: JSONCursor, _ start: Int, _ end: Int) -> Int {
      let length = end &- start
      guard nodes[node].lengths &>> UInt64(truncatingIfNeeded: length & 63) & 1 != 0 else {
        return -1
      }
      var head: UInt64 = 0
      // Eight bytes fit but for a page's very end: a quote and a colon follow a name at least.
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

    /// The same for a name with escapes.
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
