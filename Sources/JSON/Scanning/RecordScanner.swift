/// Finds the records of a page and, in each record, the positions of the requested members.
///
/// A single pass over the bytes also validates the JSON, as skipped members are stored unchanged.
/// No object is created per record. Each call processes a page; a call per byte or per record from
/// another module would cost more than the scan.
package struct RecordScanner: Sendable {
  /// The location of the records in a page.
  package enum Container: Sendable, Hashable {
    /// The array of this member of the page's object, as in `{"records":[…]}`.
    case member(String)
    /// The page itself is the array (a collection retrieve).
    case array
  }

  /// The result of scanning a page.
  package struct Page: Sendable, Hashable {
    /// The number of records found.
    package var records = 0
    /// The number of null elements: rows that could not be read.
    package var nulls = 0
    /// The offset after the page's JSON.
    package var end = 0
  }

  /// The dotted paths, in the order of the spans.
  package let paths: [String]
  private let trie: RecordTrie

  /// Compiles paths such as `Id`, `Account.Name`, `attributes.type`.
  package init(paths: [String]) {
    self.paths = paths
    trie = RecordTrie(paths: paths)
  }

  /// Calls `body` with the position of each record and one span per path.
  ///
  /// Offsets count from the page's first byte, also for the members of a record. If a path leads
  /// through an array, its span has the kind `.array` and the position of that array;
  /// `JSONProjection` then finds the value. If a name occurs several times, the last member counts.
  /// Throws `JSONError`, or the error of `body`.
  package func scan<E: Error>(
    _ page: UnsafeRawBufferPointer, in container: Container,
    _ body: (
      _ index: Int, _ record: Range<Int>, _ fields: UnsafeBufferPointer<JSONSpan>
    ) throws(E) -> Void
  ) throws -> Page {
    guard let base = page.baseAddress, page.count > 0 else {
      throw JSONFault(reason: .end, offset: 0).error(in: page)
    }
    guard page.count <= Int(Int32.max) else {
      throw JSONFault(reason: .tooLarge, offset: 0).error(in: page)
    }
    let fields = UnsafeMutableBufferPointer<JSONSpan>.allocate(capacity: paths.count)
    fields.initialize(repeating: .missing)
    defer { fields.deallocate() }
    do {
      return try trie.withView { view in
        var walk = RecordWalk(
          cursor: JSONCursor(base, count: page.count), trie: view, fields: fields)
        var result = Page()
        switch container {
        case .array: try walk.records(depth: 0, into: &result, body)
        case .member(let name): try walk.recordsMember(name, into: &result, body)
        }
        result.end = walk.cursor.offset
        try walk.cursor.finish()
        return result
      }
    } catch let fault as JSONFault {
      throw fault.error(in: page)
    }
  }

  /// Finds the members of one record; `spans` has one entry per path, and all are set.
  package func scan(
    record: UnsafeRawBufferPointer, into spans: UnsafeMutableBufferPointer<JSONSpan>
  ) throws(JSONError) {
    do throws(JSONFault) {
      guard let base = record.baseAddress, record.count > 0 else {
        throw JSONFault(reason: .end, offset: 0)
      }
      guard record.count <= Int(Int32.max) else { throw JSONFault(reason: .tooLarge, offset: 0) }
      try trie.withView { view throws(JSONFault) in
        var walk = RecordWalk(
          cursor: JSONCursor(base, count: record.count), trie: view, fields: spans)
        guard try walk.cursor.peek() == 0x7B else {
          throw JSONFault(reason: .notObject, offset: walk.cursor.offset)
        }
        try walk.record(depth: 0)
        try walk.cursor.finish()
      }
    } catch {
      throw error.error(in: record)
    }
  }
}
