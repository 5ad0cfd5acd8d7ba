import JSON
import Ledger
import Salesforce

/// Accumulates attache's writes to a record for the next edit of a device's row.
package struct OwnWriteStory {
  /// A write that attache sent for an earlier edit of the row.
  package struct Write {
    var edit: Int64
    /// The record's date after the write.
    var date: String?
    /// The record's values after the write, including fields that were read for other writes; nil
    /// if they were not read or another user wrote in between.
    var left: JSONObject?
    var sent: JSONObject
    /// The org's earlier values in the fields that it sent, and the record's date then.
    var former: JSONObject
    /// The values of the edit that an operator entered.
    var entered: JSONObject
    /// The edit's row.
    var element: JSONObject?
    var isUndo: Bool
    /// Whether its answer was lost.
    var isDoubted: Bool
    /// The details of its verdict.
    package var detail: OutcomeDetail

    package init(
      edit: Int64, date: String? = nil, left: JSONObject? = nil, sent: JSONObject,
      former: JSONObject, entered: JSONObject, element: JSONObject? = nil, isUndo: Bool,
      isDoubted: Bool, detail: OutcomeDetail
    ) {
      self.edit = edit
      self.date = date
      self.left = left
      self.sent = sent
      self.former = former
      self.entered = entered
      self.element = element
      self.isUndo = isUndo
      self.isDoubted = isDoubted
      self.detail = detail
    }
  }

  private var write: MergeBaseRule.OwnWrite
  private var date: String?
  private var isKnown: Bool
  /// By edit: the values that its device had been issued in the fields that it sent.
  private var given: [Int64: [String: MergeBaseRule.Given]] = [:]
  /// The latest edit of the row, and the row's content then.
  private var newest: (edit: Int64, element: JSONObject?)?

  /// Starts with the record that an operator named for a new row.
  package init(_ named: MergeBaseRule.OwnWrite?) {
    write = named ?? MergeBaseRule.OwnWrite(date: "", fields: [:])
    date = named?.date
    isKnown = named != nil
  }

  /// Adds the next write.
  ///
  /// The edit's own row has not seen writes through other rows of the device.
  package mutating func add(_ next: Write, isSameRow: Bool) {
    // An org's clock can go back: a copy that is older than one write has not seen the later ones.
    if let latest = next.date, let earlier = date, ServerDate.isBefore(latest, earlier) {
      date = earlier
    } else {
      date = next.date
    }
    isKnown = next.left != nil
    // A write that could not be read back is assumed to have left the sent values. Values in other
    // fields were never issued to a device.
    var after = next.sent
    for (name, value) in next.left ?? [:] where next.sent[name] != nil { after[name] = value }
    for (name, value) in after {
      write.left[name] = value
      if isSameRow { write.fields[name] = value }
      if next.isDoubted { write.answered.remove(name) } else { write.answered.insert(name) }
    }
    guard isSameRow else { return noteBeside(next) }
    if let date = next.date { write.ownDates.append(date) }
    if !next.isUndo { noteGiven(next, after) }
    for (name, value) in next.sent {
      write.sent[name] = value
      write.entered.remove(name)
      write.given[name] = nil
    }
    // If an operator entered another value than the device's, or undid it, the device still has its
    // own.
    let entered = next.isUndo ? next.sent : next.entered
    for (name, value) in entered where next.sent[name] != nil {
      if !next.isUndo, FieldValue.isSame(value, next.element?[name]) { continue }
      write.sent[name] = next.element?[name] ?? .null
      write.entered.insert(name)
      write.given[name] = given[next.edit]?[name]
    }
    if next.isUndo { given[next.edit] = nil }
    if next.edit >= newest?.edit ?? 0 { newest = (next.edit, next.element) }
  }

  private mutating func noteBeside(_ next: Write) {
    var replaced: JSONObject = [:]
    for name in next.sent.names { replaced[name] = next.former[name] }
    write.beside.append(
      MergeBaseRule.WriteBeside(
        dateBefore: next.former[OperationRow.dateKey]?.string, date: next.date,
        replaced: replaced))
  }

  private mutating func noteGiven(_ next: Write, _ after: JSONObject) {
    for name in next.sent.names where given[next.edit]?[name] == nil {
      given[next.edit, default: [:]][name] = MergeBaseRule.Given(
        before: next.detail.fields.first { $0.name == name }?.base, after: after[name],
        date: next.date)
    }
  }

  /// The combined result of the writes; nil if the result of the last one is unknown and the device
  /// has a copy of the org's record to compare with.
  ///
  /// For a row that its device created, there is nothing else to compare an edit with. Values that
  /// another user entered right away are not attache's, and they stand where they differ from what
  /// was sent.
  package func write(isOfDevicesOwn: Bool) -> MergeBaseRule.OwnWrite? {
    guard let date, isKnown || isOfDevicesOwn else { return nil }
    var write = write
    write.date = date
    // If the element is pruned, the row's content is unknown.
    if let element = newest?.element, !element.isEmpty {
      write.element = element
      for name in write.entered { write.sent[name] = element[name] ?? .null }
    }
    return write
  }
}
