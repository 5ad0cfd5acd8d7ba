import JSON

/// Splits pages of parents with nested children into the bytes of parents and the bytes of
/// children.
///
/// A record's bytes are unchanged, except that a parent loses the member with its children, and a
/// child gains its parent's ID if it lacks it. No object is allocated per record.
package struct ParentChildrenSplitter {
  /// The parts of one page from the org.
  package struct Page {
    /// `{"records":[…]}` with the parents.
    package var parents: [UInt8]
    /// `{"records":[…]}` with the children of all parents.
    package var children: [UInt8]
    package var parentCount = 0
    /// The number of children, if they arrived without parents.
    var childCount = 0
    /// Parents of which the page contains only the first children.
    package var unfinished: [Unfinished] = []
    /// Parents of which a child was skipped.
    var leftParents: Set<String> = []
    /// The modification date of the last parent, as written.
    var lastParent: [UInt8] = []

    fileprivate init() {
      parents = Self.opening
      children = Self.opening
    }

    fileprivate static let opening = Array(#"{"records":["#.utf8)
    fileprivate mutating func close() {
      parents += [0x5D, 0x7D]
      children += [0x5D, 0x7D]
    }
  }

  /// A parent whose further children are still to be fetched.
  package struct Unfinished: Hashable {
    /// The ID as it appears between quotation marks.
    var parentID: [UInt8]
    /// The URL of the further children; nil if the org does not send it.
    var address: String?

    package init(parentID: [UInt8], address: String? = nil) {
      self.parentID = parentID
      self.address = address
    }
  }

  /// Children that must not be stored: new ones of a tree that was changed on the device.
  package struct Left {
    /// The parents of such trees.
    var parents: Set<String> = []
    /// Children that the store knows; they are distinguished when they are stored.
    var knownChildren: Set<String> = []

    package init(parents: Set<String> = [], knownChildren: Set<String> = []) {
      self.parents = parents
      self.knownChildren = knownChildren
    }
  }

  private let parentScanner: RecordScanner
  private let childScanner: RecordScanner
  private let foreignKey: String

  package init(_ family: ParentChildrenFamily) {
    let plural = family.children.sobjectTypePlural ?? ""
    foreignKey = family.children.parentIdFieldName ?? ""
    parentScanner = RecordScanner(paths: [
      family.parent.idFieldName, family.parent.modificationDateFieldName, plural,
      "\(plural).records", "\(plural).done", "\(plural).nextRecordsUrl",
    ])
    childScanner = RecordScanner(paths: [
      foreignKey, family.children.idFieldName,
    ])
  }

  package func split(_ page: [UInt8], leaving left: Left = Left()) throws(SyncError) -> Page {
    try read(page) { bytes, result in
      result.parentCount = try parentScanner.scan(bytes, in: .member("records")) {
        _, record, fields in
        try add(record, fields, of: bytes, leaving: left, to: &result)
      }.records
    }
  }

  /// Reads the children of one parent from a page of children.
  package func children(
    _ page: [UInt8], of parentID: [UInt8], leaving left: Left = Left()
  ) throws(SyncError) -> Page {
    try read(page) { bytes, result in
      try parentID.withUnsafeBytes { id in
        _ = try childScanner.scan(bytes, in: .member("records")) { _, record, fields in
          add(child: record, fields, of: bytes, parentID: id, leaving: left, to: &result)
        }
      }
    }
  }

  /// Reads the children of several parents from a page of children, each of which names its parent.
  func children(_ page: [UInt8], leaving left: Left) throws(SyncError) -> Page {
    try read(page) { bytes, result in
      result.childCount = try childScanner.scan(bytes, in: .member("records")) {
        _, record, fields in
        let parentID = UnsafeRawBufferPointer(rebasing: bytes[fields[0].range])
        add(child: record, fields, of: bytes, parentID: parentID, leaving: left, to: &result)
      }.records
    }
  }

  private func read(
    _ page: [UInt8], _ body: (UnsafeRawBufferPointer, inout Page) throws -> Void
  ) throws(SyncError) -> Page {
    var result = Page()
    try SyncError.reading("a page of records") {
      try page.withUnsafeBytes { try body($0, &result) }
    }
    result.close()
    return result
  }

  // MARK: Records

  private func add(
    _ record: Range<Int>, _ fields: UnsafeBufferPointer<JSONSpan>,
    of bytes: UnsafeRawBufferPointer, leaving left: Left, to page: inout Page
  ) throws {
    let id = fields[0]
    guard id.kind == .string || id.kind == .escapedString else {
      throw SyncError(.badResponse, "a record arrived without an ID")
    }
    Self.comma(&page.parents)
    if fields[2].kind == .missing {
      page.parents.append(contentsOf: bytes[record])
    } else {
      let cut = JSONSplice.member(of: fields[2], in: bytes)
      page.parents.append(contentsOf: bytes[record.lowerBound..<cut.lowerBound])
      page.parents.append(contentsOf: bytes[cut.upperBound..<record.upperBound])
    }
    if fields[1].kind == .string {
      page.lastParent = Array(bytes[fields[1].range])
    }
    let parentID = UnsafeRawBufferPointer(rebasing: bytes[id.range])
    if fields[3].kind == .array {
      let array = UnsafeRawBufferPointer(rebasing: bytes[fields[3].range])
      _ = try childScanner.scan(array, in: .array) { _, record, fields in
        add(child: record, fields, of: array, parentID: parentID, leaving: left, to: &page)
      }
    }
    let address = fields[5].text(in: bytes)
    if fields[4].kind == .false || address != nil {
      page.unfinished.append(Unfinished(parentID: Array(parentID), address: address))
    }
  }

  private func add(
    child record: Range<Int>, _ fields: UnsafeBufferPointer<JSONSpan>,
    of bytes: UnsafeRawBufferPointer, parentID: UnsafeRawBufferPointer, leaving left: Left,
    to page: inout Page
  ) {
    if !left.parents.isEmpty {
      let parent = JSONText.unescaped(parentID)
      let child = fields[1].text(in: bytes) ?? ""
      if left.parents.contains(parent), !left.knownChildren.contains(child) {
        page.leftParents.insert(parent)
        return
      }
    }
    Self.comma(&page.children)
    let key = fields[0]
    if key.kind == .missing {
      // Every record has attributes, so there is a member before the comma.
      page.children.append(contentsOf: bytes[record].dropLast())
      if bytes[record].dropFirst().first(where: { $0 > 0x20 }) != UInt8(ascii: "}") {
        page.children.append(UInt8(ascii: ","))
      }
      JSONText.appendQuoted(foreignKey, to: &page.children)
      page.children.append(UInt8(ascii: ":"))
      Self.append(quoted: parentID, to: &page.children)
      page.children.append(UInt8(ascii: "}"))
    } else if key.kind == .string, bytes[key.range].elementsEqual(parentID) {
      page.children.append(contentsOf: bytes[record])
    } else {
      let value = JSONSplice.whole(key)
      page.children.append(contentsOf: bytes[record.lowerBound..<value.lowerBound])
      Self.append(quoted: parentID, to: &page.children)
      page.children.append(contentsOf: bytes[value.upperBound..<record.upperBound])
    }
  }

  private static func append(quoted raw: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(0x22)
    bytes.append(contentsOf: raw)
    bytes.append(0x22)
  }

  private static func comma(_ bytes: inout [UInt8]) {
    if bytes.count > Page.opening.count { bytes.append(UInt8(ascii: ",")) }
  }
}
