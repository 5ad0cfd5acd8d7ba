import JSON
import Ledger
import Salesforce

/// What our writes to a record come to for the next edit of a device's row, one after the other.
package struct OwnWriteStory {
  /// One of them.
  package struct Write {
    var edit: Int64
    /// The record's date after it.
    var date: String?
    /// What the record held after it, also in fields that were read for other writes; nil where nobody read that, or
    /// somebody else wrote in between.
    var left: JSONObject?
    var sent: JSONObject
    /// What the org held before it in the fields that it sent, and the record's date then.
    var former: JSONObject
    /// The values of the edit's that a person entered.
    var entered: JSONObject
    /// The edit's row.
    var element: JSONObject?
    var isUndo: Bool
    /// Whether its answer was lost.
    var isDoubted: Bool
    /// What was told of it.
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
  /// By edits: what its device had been given in the fields that it sent.
  private var given: [Int64: [String: MergeBaseRule.Given]] = [:]
  /// The latest edit of the row, and what the row held then.
  private var newest: (edit: Int64, element: JSONObject?)?

  /// Begins with the record that somebody named for a new row.
  package init(_ named: MergeBaseRule.OwnWrite?) {
    write = named ?? MergeBaseRule.OwnWrite(date: "", fields: [:])
    date = named?.date
    isKnown = named != nil
  }

  /// Adds the next write; of one that went through another row of the device its own row knows nothing.
  package mutating func add(_ next: Write, isSameRow: Bool) {
    // An org's clock can go back: a copy that was older than one of them has not seen those after it.
    if let latest = next.date, let earlier = date, ServerDate.isBefore(latest, earlier) {
      date = earlier
    } else {
      date = next.date
    }
    isKnown = next.left != nil
    // What could not be read back is taken to stand as it was sent. What stands in other fields no device was given.
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
    // Where a person entered another value than the device's, or undid it, the device holds its own still.
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

  /// What they come to; nil where nothing is known of what the last of them left, and the device has a copy of the
  /// org's to compare with.
  ///
  /// Of a row that its device made nothing else is known that an edit of it could be compared with: what
  /// somebody made of the record at once is not ours, and stands where it is not what was sent.
  package func write(isOfDevicesOwn: Bool) -> MergeBaseRule.OwnWrite? {
    guard let date, isKnown || isOfDevicesOwn else { return nil }
    var write = write
    write.date = date
    // Pruned, nothing of the row is known.
    if let element = newest?.element, !element.isEmpty {
      write.element = element
      for name in write.entered { write.sent[name] = element[name] ?? .null }
    }
    return write
  }
}
