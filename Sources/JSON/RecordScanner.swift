/// Finds the records of a page and, in each, the places of the members that somebody wants.
///
/// One pass over the bytes, which also proves that they are JSON: what is skipped is stored as it
/// is. No object is made per record. Calls go page by page; a call per byte or per record from
/// another module would cost more than the scan.
package struct RecordScanner: Sendable {
  /// Where the records of a page are.
  package enum Container: Sendable, Hashable {
    /// The array under this member of the page's object, as in `{"records":[…]}`.
    case member(String)
    /// The page is the array (a collection retrieve).
    case array
  }

  /// What a page held.
  package struct Page: Sendable, Hashable {
    /// The records that were handed on.
    package var records = 0
    /// The elements that were null: rows that could not be read.
    package var nulls = 0
    /// The byte after the page's JSON.
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

  /// Hands each record's place and one span per path to `body`.
  ///
  /// Offsets count from the page's first byte, for a record's fields too. A path that goes through
  /// an array answers `.array` with the place of that array; `JSONProjection` then knows the value.
  /// Of members with one name the last counts. Throws `JSONError`, or what `body` throws.
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

  /// Finds the members of one record; `spans` has one place per path and all of them are set.
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
