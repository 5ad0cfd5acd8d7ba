/// The state of a scan over a page.
struct RecordWalk {
  var cursor: JSONCursor
  let trie: RecordTrie.View
  let fields: UnsafeMutableBufferPointer<JSONSpan>

  /// Scans the records of the member `name` of the page's object; the other members are only
  /// validated.
  mutating func recordsMember<E: Error>(
    _ name: String, into page: inout RecordScanner.Page,
    _ body: (Int, Range<Int>, UnsafeBufferPointer<JSONSpan>) throws(E) -> Void
  ) throws {
    try cursor.take(0x7B, .notObject)
    var found = false
    if try cursor.peek() == 0x7D {
      throw JSONFault(reason: .memberMissing, offset: cursor.offset)
    }
    while true {
      guard try cursor.peek() == 0x22 else {
        throw JSONFault(reason: .name, offset: cursor.offset)
      }
      let place = cursor.offset
      let isRecords = try cursor.text() == name
      try cursor.take(0x3A, .colon)
      if isRecords {
        guard !found else { throw JSONFault(reason: .memberTwice, offset: place) }
        found = true
        try records(depth: 1, into: &page, body)
      } else {
        _ = try cursor.skipValue(depth: 1)
      }
      let next = try cursor.peek()
      guard next == 0x2C || next == 0x7D else {
        throw JSONFault(reason: .comma, offset: cursor.offset)
      }
      cursor.offset &+= 1
      guard next == 0x7D else { continue }
      guard found else { throw JSONFault(reason: .memberMissing, offset: cursor.offset) }
      return
    }
  }

  /// Scans an array of records and nulls.
  mutating func records<E: Error>(
    depth: Int, into page: inout RecordScanner.Page,
    _ body: (Int, Range<Int>, UnsafeBufferPointer<JSONSpan>) throws(E) -> Void
  ) throws {
    try cursor.take(0x5B, .notArray)
    if try cursor.peek() == 0x5D {
      cursor.offset &+= 1
      return
    }
    while true {
      let first = try cursor.peek()
      let start = cursor.offset
      if first == 0x7B {
        try record(depth: depth &+ 1)
        try body(page.records, start..<cursor.offset, UnsafeBufferPointer(fields))
        page.records &+= 1
      } else if first == 0x6E {
        _ = try cursor.skipLiteral()
        page.nulls &+= 1
      } else {
        throw JSONFault(reason: .notRecord, offset: start)
      }
      let next = try cursor.peek()
      guard next == 0x2C || next == 0x5D else {
        throw JSONFault(reason: .comma, offset: cursor.offset)
      }
      cursor.offset &+= 1
      if next == 0x5D { return }
    }
  }

  /// Scans a record whose brace is at the cursor.
  mutating func record(depth: Int) throws(JSONFault) {
    for slot in 0..<fields.count { fields[slot] = .missing }
    let start = cursor.offset
    try object(node: 0, depth: depth)
    answer(trie.nodes[0].slots, JSONSpan(start, cursor.offset, .object))
  }

  /// Scans the object at the cursor; `node` has its requested members.
  private mutating func object(node: Int, depth: Int) throws(JSONFault) {
    guard depth < JSONCursor.depthLimit else {
      throw JSONFault(reason: .depth, offset: cursor.offset)
    }
    cursor.offset &+= 1
    if try cursor.peek() == 0x7D {
      cursor.offset &+= 1
      return
    }
    while true {
      guard try cursor.peek() == 0x22 else {
        throw JSONFault(reason: .name, offset: cursor.offset)
      }
      let start = cursor.offset &+ 1
      let child: Int
      if try cursor.skipString() {
        cursor.offset = start &- 1
        child = trie.find(node, escaped: try cursor.text())
      } else {
        child = trie.find(node, cursor, start, cursor.offset &- 1)
      }
      try cursor.take(0x3A, .colon)
      if child < 0 {
        _ = try cursor.skipValue(depth: depth &+ 1)
      } else {
        try member(child, depth: depth &+ 1)
      }
      let next = try cursor.peek()
      guard next == 0x2C || next == 0x7D else {
        throw JSONFault(reason: .comma, offset: cursor.offset)
      }
      cursor.offset &+= 1
      if next == 0x7D { return }
    }
  }

  /// Scans the value of a requested member.
  private mutating func member(_ node: Int, depth: Int) throws(JSONFault) {
    guard !trie.nodes[node].below.isEmpty else {
      answer(trie.nodes[node].slots, try cursor.skipValue(depth: depth))
      return
    }
    // An earlier member of the same name may have set the results. The last one counts.
    answer(trie.nodes[node].below, .missing)
    let first = try cursor.peek()
    let span: JSONSpan
    if first == 0x7B {
      let start = cursor.offset
      try object(node: node, depth: depth)
      span = JSONSpan(start, cursor.offset, .object)
    } else {
      span = try cursor.skipValue(depth: depth)
      if span.kind == .array { answer(trie.nodes[node].below, span) }
    }
    answer(trie.nodes[node].slots, span)
  }

  @inline(__always)
  private func answer(_ places: Range<Int>, _ span: JSONSpan) {
    for place in places { fields[trie.slots[place]] = span }
  }
}
