import JSON

/// One locally changed element as its device left it.
///
/// Each state of an edit has its own type: `OpenEdit` adds what the ledger knows of its record,
/// `Write` adds what is sent, and `ReportEdit` has the few columns that a report needs and
/// the outcome.
package struct Edit: Sendable {
  /// The edit's row.
  package var row: RowKey
  /// The row's `created`, in ms.
  package var created: Int64
  /// The row's `lastModified`, in ms by the device's clock.
  package var lastModified: Int64
  /// The element's bytes as the device wrote them.
  package var element: [UInt8] { didSet { content = nil } }
  /// The digest of the element as a value, if the reader of the element computed it
  /// (`ElementContent`).
  package var content: String?
  /// The operation that the element's flags ask for.
  package var operation: EditOperation
  /// `attributes.type`.
  package var sobject: String?
  /// The record's 18-character Id, if it has one.
  package var serverID: String?
  /// The local ID of a record that the device created.
  package var localID: String?
  /// The server's modification date in the element.
  package var modificationDate: String?
  /// The values that the device was issued; nil if they are not kept.
  package var base: MergeBase?
  /// Why the row cannot be sent; an edit with such a finding gets the verdict `failed`.
  package var finding: String?

  package init(
    row: RowKey, created: Int64, lastModified: Int64, element: [UInt8],
    operation: EditOperation, sobject: String? = nil, serverID: String? = nil,
    localID: String? = nil, modificationDate: String? = nil, base: MergeBase? = nil,
    finding: String? = nil
  ) {
    self.row = row
    self.created = created
    self.lastModified = lastModified
    self.element = element
    self.operation = operation
    self.sobject = sobject
    self.serverID = serverID
    self.localID = localID
    self.modificationDate = modificationDate
    self.base = base
    self.finding = finding
  }
}

/// The operation that an element's flags ask for.
///
/// Deleted takes precedence over created, and created over all others.
package enum EditOperation: String, Sendable, Hashable, CaseIterable {
  /// The device created the record.
  case create
  /// The device changed the record.
  case update
  /// The device deleted the record.
  case delete
  /// The device created the record and deleted it again.
  case dropped
  /// A clean row with the ID that the device's own sync assigned to a record created on the device.
  case synced

  /// The operation for a dirty element's flags.
  package init(isCreated: Bool, isDeleted: Bool) {
    switch (isCreated, isDeleted) {
    case (true, true): self = .dropped
    case (false, true): self = .delete
    case (true, false): self = .create
    case (false, false): self = .update
    }
  }
}
