import Archive
import JSON
import SmartStore
import System

/// Writes a base, record by record in the order of (soup, Id).
package final class IssuedRecordWriter {
  private let path: String
  private let temporary: String
  private let file: CompressedFileWriter
  private var buffer: [UInt8] = IssuedRecordFormat.magic
  private var last: (soup: String, id: String)?
  private var isFinished = false
  /// How many records were written.
  package private(set) var count = 0

  /// Starts a base that gets its name, `path`, when it is finished.
  package init(path: String) throws(BundleError) {
    self.path = path
    temporary = DurableFile.temporaryName(for: path)
    let temporary = temporary
    file = try BundleError.mapping {
      try Files.makeDirectory(Files.parent(of: path) ?? ".")
      return try CompressedFileWriter(path: temporary)
    }
  }

  deinit {
    if !isFinished { try? Files.remove(temporary) }
  }

  /// Adds a record, which must stand behind all that were added before.
  package func append(
    soup: String, id: String, modified: String?, stamp: String?, lastModified: Int64? = nil,
    fields: [UInt8]
  ) throws(BundleError) {
    if let last {
      let isInOrder =
        last.soup == soup
        ? last.id.utf8.lexicographicallyPrecedes(id.utf8)
        : last.soup.utf8.lexicographicallyPrecedes(soup.utf8)
      guard isInOrder else {
        throw .invalid("the base \(path) was given \(soup) \(id) after \(last.soup) \(last.id)")
      }
    }
    last = (soup, id)
    buffer.append(IssuedRecordFormat.recordMark)
    add(Array(soup.utf8))
    add(Array(id.utf8))
    add(modified.map { Array($0.utf8) })
    add(stamp.map { Array($0.utf8) })
    add(lastModified.map { Array(String($0).utf8) })
    add(fields)
    count += 1
    if buffer.count >= 1 << 16 { try flush() }
  }

  private func add(_ part: [UInt8]?) {
    let length = part.map { UInt32($0.count) } ?? IssuedRecordFormat.absent
    withUnsafeBytes(of: length.littleEndian) { buffer.append(contentsOf: $0) }
    if let part { buffer.append(contentsOf: part) }
  }

  private func flush() throws(BundleError) {
    let bytes = buffer
    buffer.removeAll(keepingCapacity: true)
    try BundleError.mapping { try file.write(bytes) }
  }

  /// Writes the end and gives the file its name, durably.
  package func finish() throws(BundleError) {
    buffer.append(IssuedRecordFormat.endMark)
    withUnsafeBytes(of: UInt64(count).littleEndian) { buffer.append(contentsOf: $0) }
    try flush()
    try BundleError.mapping {
      try file.close()
      try DurableFile.rename(temporary, to: path)
    }
    isFinished = true
  }
}

extension IssuedRecordWriter {
  /// What of a soup goes into a base.
  package struct SoupFields: Sendable, Hashable {
    /// The soup.
    package var soup: String
    /// What the soup is called in the base, where that is not its name.
    package var key: String
    /// The path of the record's Id; it should be indexed.
    package var idPath: String
    /// The path of the server's modification date.
    package var modificationPath: String
    /// The fields that the sync-ups may send.
    package var fields: [String]

    /// Makes a choice of its parts.
    package init(
      soup: String, key: String? = nil, fields: [String], idPath: String = "Id",
      modificationPath: String = "LastModifiedDate"
    ) {
      self.soup = soup
      self.key = key ?? soup
      self.fields = fields
      self.idPath = idPath
      self.modificationPath = modificationPath
    }
  }

  /// Adds all records of a soup of a store, without making a tree of any.
  ///
  /// Soups must be given in the order of their names' bytes. `stamps` answers a record's
  /// SystemModstamp.
  package func append(
    _ choice: SoupFields, of store: Store, stamps: (_ id: String) -> String? = { _ in nil }
  ) throws(BundleError) {
    let paths = [choice.idPath, choice.modificationPath, "SystemModstamp"] + choice.fields
    try BundleError.mapping {
      guard try store.hasSoup(choice.soup) else { return }
      try store.forEachElement(in: choice.soup, paths: paths, orderedBy: choice.idPath) { element in
        guard let id = element.text(0) else { return }
        try append(
          soup: choice.key, id: id, modified: element.text(1),
          stamp: stamps(id) ?? element.text(2), lastModified: element.lastModified,
          fields: IssuedRecordWriter.object(choice.fields, of: element))
      }
    }
  }

  /// An object of the fields that are there, with the element's own bytes for values.
  private static func object(
    _ fields: [String], of element: borrowing StoredElement
  ) -> [UInt8] {
    var bytes: [UInt8] = [0x7B]
    for (index, name) in fields.enumerated() {
      let kind = element.fields[3 + index].kind
      if kind == .missing { continue }
      if bytes.count > 1 { bytes.append(0x2C) }
      JSONText.appendQuoted(name, to: &bytes)
      bytes.append(0x3A)
      let isText = kind == .string || kind == .escapedString
      if isText { bytes.append(0x22) }
      bytes.append(contentsOf: element.raw(3 + index))
      if isText { bytes.append(0x22) }
    }
    bytes.append(0x7D)
    return bytes
  }
}
