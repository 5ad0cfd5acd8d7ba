import SQLite

/// Writes rows as JSON, directly from the columns of a statement.
struct RecordEncoder {
  let store: OrgStore
  private(set) var bytes: [UInt8] = []
  /// The paging of a record's children; nil writes all.
  var nesting: NestedPages?

  init(store: OrgStore, reserving capacity: Int = 0) {
    self.store = store
    bytes.reserveCapacity(capacity)
  }

  mutating func append(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(bytes more: [UInt8]) { bytes.append(contentsOf: more) }

  /// Appends the record of the statement's current row.
  mutating func append(_ statement: Statement, _ plan: RowPlan) throws {
    bytes.append(contentsOf: plan.head)
    bytes.append(contentsOf: statement.columnBytes(0))
    append("\"}")
    for member in plan.members { try append(member, statement, plan) }
    bytes.append(UInt8(ascii: "}"))
  }

  private mutating func append(_ member: RowPlan.Member, _ statement: Statement, _ plan: RowPlan)
    throws
  {
    switch member {
    case .text(let label, let index):
      bytes.append(contentsOf: label)
      appendText(statement, index)
    case .number(let label, let index):
      bytes.append(contentsOf: label)
      appendRaw(statement, index)
    case .flag(let label, let index):
      bytes.append(contentsOf: label)
      if statement.columnInteger(index) != 0 { append("true") } else { append("false") }
    case .address(let label, let first):
      bytes.append(contentsOf: label)
      appendAddress(statement, first)
    case .parent(let label, let parent):
      bytes.append(contentsOf: label)
      try append(parent, statement, plan)
    case .choice(let label, let parents):
      bytes.append(contentsOf: label)
      try append(parents.first { !statement.isNull($0.id) }, statement, plan)
    case .children(let label, let index):
      bytes.append(contentsOf: label)
      try appendChildren(plan.children[index], index, parent: statement.columnText(0) ?? "")
    }
  }

  /// Appends a parent, or null if there is none.
  private mutating func append(
    _ parent: RowPlan.Parent?, _ statement: Statement, _ plan: RowPlan
  ) throws {
    guard let parent, !statement.isNull(parent.id) else {
      append("null")
      return
    }
    bytes.append(contentsOf: parent.head)
    if let type = parent.type {
      bytes.append(contentsOf: statement.columnBytes(type))
      append("/")
    }
    bytes.append(contentsOf: statement.columnBytes(parent.id))
    append("\"}")
    for inner in parent.members { try append(inner, statement, plan) }
    bytes.append(UInt8(ascii: "}"))
  }

  private mutating func appendChildren(_ children: RowPlan.Children, _ place: Int, parent: String)
    throws
  {
    let statement = try store.prepared(children.sql.text)
    try statement.bind(children.sql.bindings)
    try statement.bind(children.parentBinding, parent)
    defer { statement.reset() }
    var inner = RecordEncoder(store: store)
    inner.nesting = nesting?.entering(place)
    let most = nesting?.size ?? Int.max
    var sequences: [Int64] = []
    while try statement.step() {
      if sequences.count < most {
        if !sequences.isEmpty { inner.append(",") }
        try inner.append(statement, children.plan)
      }
      sequences.append(OrgID.sequence(statement.columnText(0) ?? ""))
    }
    nesting?.take(from: inner.nesting)
    guard !sequences.isEmpty else {
      append("null")
      return
    }
    append("{\"totalSize\":")
    bytes.append(contentsOf: String(sequences.count).utf8)
    if sequences.count > most, let address = nesting?.add(sequences, place) {
      append(",\"done\":false,\"nextRecordsUrl\":\"")
      bytes.append(contentsOf: address.utf8)
      append("\",\"records\":[")
    } else {
      append(",\"done\":true,\"records\":[")
    }
    bytes.append(contentsOf: inner.bytes)
    append("]}")
  }

  private mutating func appendAddress(_ statement: Statement, _ first: Int32) {
    let parts = AddressPart.allCases
    guard parts.indices.contains(where: { !statement.isNull(first + Int32($0)) }) else {
      append("null")
      return
    }
    for (offset, part) in parts.enumerated() {
      if offset == 0 { append("{\"") } else { append(",\"") }
      bytes.append(contentsOf: part.rawValue.utf8)
      append("\":")
      let index = first + Int32(offset)
      if part == .latitude || part == .longitude {
        appendRaw(statement, index)
      } else {
        appendText(statement, index)
      }
    }
    append("}")
  }

  /// Appends a number as stored.
  mutating func appendRaw(_ statement: Statement, _ index: Int32) {
    if statement.isNull(index) {
      append("null")
    } else {
      bytes.append(contentsOf: statement.columnBytes(index))
    }
  }

  /// Appends text in quotation marks.
  mutating func appendText(_ statement: Statement, _ index: Int32) {
    if statement.isNull(index) {
      append("null")
    } else {
      appendQuoted(statement.columnBytes(index))
    }
  }

  private mutating func appendQuoted(_ text: UnsafeRawBufferPointer) {
    bytes.append(UInt8(ascii: "\""))
    var clean = 0
    for index in text.indices {
      let byte = text[index]
      guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { continue }
      bytes.append(contentsOf: text[clean..<index])
      appendEscape(byte)
      clean = index + 1
    }
    bytes.append(contentsOf: text[clean...])
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func appendEscape(_ byte: UInt8) {
    switch byte {
    case 0x22: append("\\\"")
    case 0x5C: append("\\\\")
    case 0x0A: append("\\n")
    case 0x0D: append("\\r")
    case 0x09: append("\\t")
    default:
      let digits = Array("0123456789abcdef".utf8)
      append("\\u00")
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }
}
