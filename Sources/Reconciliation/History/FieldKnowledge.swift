import JSON
import Ledger
import Salesforce

/// What attache's writes to a record left in its fields, for the next edit of a device's row.
///
/// The writes are added in order.
package struct FieldKnowledge: Sendable {
  /// The values that a device was issued in a field before and after a write.
  package struct Given: Sendable, Hashable {
    /// The value in its copy before the write; nil if unknown.
    package var before: JSONValue?
    /// The value after the write.
    package var after: JSONValue?
    /// The date of the write.
    ///
    /// A copy with this date or a later one has `after`.
    package var date: String?

    package init(before: JSONValue? = nil, after: JSONValue? = nil, date: String? = nil) {
      (self.before, self.after, self.date) = (before, after, date)
    }
  }

  /// The latest of the server's modification dates after the writes; empty if that is not known.
  package private(set) var date: String
  /// The values after the writes of the edit's own row, in the fields that they sent.
  package private(set) var fields: JSONObject
  /// The values that those writes sent.
  ///
  /// A device that still has them has not edited the field since, even if the org changed the
  /// value.
  package var sent: JSONObject
  /// The values after all writes, including those of the device's other rows of the record.
  ///
  /// The org is expected to have them, although they were never issued to the edit's row.
  package private(set) var left: JSONObject
  /// The fields whose values in `left` come from answered writes: any change of them was made by
  /// the org's rules, and no other user's value was taken for them.
  private(set) var answered: Set<String> = []
  /// The fields of the edit's own row for which an operator entered another value or undid the
  /// device's value.
  package var entered: Set<String> = []
  /// The values that the device was issued in those fields; it has not seen the values in the
  /// org.
  package var given: [String: Given] = [:]
  /// The content of the edit's own row at the last of the writes.
  package private(set) var element: JSONObject?
  /// The writes of the device's other rows, in order.
  private var beside: [OperationRow] = []
  /// The writes of the edit's own row, in order.
  private var own: [OperationRow] = []
  /// Whether the result of the last write is known.
  private var isKnown = true
  /// By edit: the values that its device had been issued in the fields that it sent.
  private var issued: [Int64: [String: Given]] = [:]
  /// The latest edit of the row.
  private var newest: Int64 = 0

  package init(
    date: String = "", fields: JSONObject = [:], sent: JSONObject = [:], left: JSONObject? = nil
  ) {
    (self.date, self.fields, self.sent, self.left) = (date, fields, sent, left ?? fields)
  }

  /// Adds the next write, with the values of its edit that an operator entered, and the edit's row.
  ///
  /// The edit's own row has not seen writes through other rows of the device.
  package mutating func add(
    _ next: OperationRow, entered: JSONObject = [:], element: JSONObject?, isSameRow: Bool
  ) {
    let isUndo = next.purpose == .undo
    // An org's clock can go back: a copy that is older than one write has not seen the later ones.
    let isEarlier = next.serverDate.map { !date.isEmpty && ServerDate.isBefore($0, date) }
    if isEarlier != true { date = next.serverDate ?? "" }
    isKnown = next.left != nil
    // A write that could not be read back is assumed to have left the sent values. Values in other
    // fields were never issued to a device.
    var after = next.payload
    for (name, value) in next.left ?? [:] where next.payload[name] != nil { after[name] = value }
    for (name, value) in after {
      left[name] = value
      if isSameRow { fields[name] = value }
      if next.isDoubted { answered.remove(name) } else { answered.insert(name) }
    }
    // An operator's values are not the device's.
    let overruled = entered.names.filter { name in
      !isUndo && next.payload[name] != nil && !FieldValue.isSame(entered[name], element?[name])
    }
    guard isSameRow else {
      // The device has seen them in no row.
      for name in overruled { left[name] = nil }
      return beside.append(next)
    }
    own.append(next)
    if !isUndo {
      for name in next.payload.names where issued[next.editID]?[name] == nil {
        issued[next.editID, default: [:]][name] = Given(
          before: next.expected.detail.fields.first { $0.name == name }?.base, after: after[name],
          date: next.serverDate)
      }
    }
    for (name, value) in next.payload {
      sent[name] = value
      self.entered.remove(name)
      given[name] = nil
    }
    // If an operator entered another value than the device's, or undid it, the device still has its
    // own.
    for name in isUndo ? next.payload.names : overruled {
      sent[name] = element?[name] ?? .null
      self.entered.insert(name)
      given[name] = issued[next.editID]?[name]
    }
    if isUndo { issued[next.editID] = nil }
    if next.editID >= newest { (newest, self.element) = (next.editID, element) }
  }

  /// The combined result of the writes; nil if the result of the last one is unknown and the device
  /// has a copy of the org's record to compare with.
  ///
  /// For a row that its device created, there is nothing else to compare an edit with. Values that
  /// another user entered right away are not attache's, and they stand where they differ from what
  /// was sent.
  package func result(isOfDevicesOwn: Bool) -> FieldKnowledge? {
    guard !date.isEmpty, isKnown || isOfDevicesOwn else { return nil }
    var result = self
    // If the element is pruned, the row's content is unknown.
    if let element, !element.isEmpty {
      for name in entered { result.sent[name] = element[name] ?? .null }
    } else {
      result.element = nil
    }
    return result
  }

  /// The org's values before those writes through other rows that a copy with a given date has not
  /// seen.
  func replaced(since date: String) -> JSONObject {
    beside.reduce(into: [:]) { values, write in
      guard let left = write.serverDate, !ServerDate.isBefore(left, date) else { return }
      for name in write.payload.names where values[name] == nil { values[name] = write.seen?[name] }
    }
  }

  /// Whether a write, through another row or because of a decision, overwrote a state that is later
  /// than a copy with a given date and that no write of the device had left.
  func isOverOthers(since date: String) -> Bool {
    let writes = beside + own
    return writes.contains { write in
      guard let before = write.dateBefore, ServerDate.isBefore(date, before) else { return false }
      return !writes.contains { $0.serverDate.map { ServerDate.isSame($0, before) } ?? false }
    }
  }
}
