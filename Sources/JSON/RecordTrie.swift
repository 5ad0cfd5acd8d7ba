/// The members to look for, as a tree of names: what `RecordScanner` compiles its paths to.
struct RecordTrie: Sendable {
  /// One member name below a node.
  struct Child: Sendable {
    let name: [UInt8]
    /// The name's first eight bytes, little-endian, padded with zeros.
    let head: UInt64
    let node: Int
  }

  struct Node: Sendable {
    var children: [Child] = []
    /// Bit `length & 63` is set when a child's name has that length: most members are passed over
    /// by it.
    var lengths: UInt64 = 0
    /// The results that this value itself answers.
    var slots: [Int] = []
    /// The results of the paths that go on below this value.
    var below: [Int] = []
  }

  private(set) var nodes = [Node()]

  init(paths: [String]) {
    for (slot, path) in paths.enumerated() {
      var node = 0
      for name in path.isEmpty ? [] : JSONProjection.components(path) {
        nodes[node].below.append(slot)
        node = child(named: Array(name.utf8), of: node)
      }
      nodes[node].slots.append(slot)
    }
  }

  private mutating func child(named name: [UInt8], of parent: Int) -> Int {
    if let known = nodes[parent].children.first(where: { $0.name == name }) { return known.node }
    nodes.append(Node())
    let child = Child(name: name, head: Self.head(name), node: nodes.count - 1)
    nodes[parent].children.append(child)
    nodes[parent].lengths |= 1 << UInt64(name.count & 63)
    return child.node
  }

  private static func head(_ name: [UInt8]) -> UInt64 {
    var head: UInt64 = 0
    for (place, byte) in name.prefix(8).enumerated() { head |= UInt64(byte) << UInt64(place * 8) }
    return head
  }

  /// The node of the member whose name stands, without escapes, at `start..<end`; -1 when none.
  @inline(__always)
  static func find(
    _ node: borrowing Node, _ cursor: JSONCursor, _ start: Int, _ end: Int
  ) -> Int {
    let length = end &- start
    guard node.lengths &>> UInt64(length & 63) & 1 != 0 else { return -1 }
    // A name is followed by a quote and a colon at least; eight bytes fit but for a page's very
    // end.
    var head: UInt64 = 0
    if start &+ 8 <= cursor.count {
      head = UInt64(
        littleEndian: cursor.base.loadUnaligned(fromByteOffset: start, as: UInt64.self))
      if length < 8 { head &= (1 &<< UInt64(length &* 8)) &- 1 }
    } else {
      for place in 0..<min(length, 8) {
        head |= UInt64(cursor.byte(start &+ place)) &<< UInt64(place &* 8)
      }
    }
    for child in node.children where child.head == head && child.name.count == length {
      if length <= 8 || matches(child.name, cursor, start) { return child.node }
    }
    return -1
  }

  private static func matches(_ name: [UInt8], _ cursor: JSONCursor, _ start: Int) -> Bool {
    for place in 8..<name.count where name[place] != cursor.byte(start &+ place) { return false }
    return true
  }

  /// The same for a name with escapes.
  static func find(_ node: borrowing Node, escaped name: String) -> Int {
    let bytes = Array(name.utf8)
    return node.children.first { $0.name == bytes }?.node ?? -1
  }
}
