import JSON
import Ledger
import Salesforce

/// Accumulates attache's writes to a record for the next edit of a device's row.
package struct OwnWriteStory {
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

  /// Adds the next write, with the values of its edit that an operator entered, and the edit's row.
  ///
  /// The edit's own row has not seen writes through other rows of the device.
  package mutating func add(
    _ next: OperationRow, entered: JSONObject, element: JSONObject?, isSameRow: Bool
  ) {
    let (date, isUndo) = (next.serverDate, next.purpose == .undo)
    // An org's clock can go back: a copy that is older than one write has not seen the later ones.
    let isEarlier = date.flatMap { latest in
      self.date.map { ServerDate.isBefore(latest, $0) }
    }
    if isEarlier != true { self.date = date }
    isKnown = next.left != nil
    // A write that could not be read back is assumed to have left the sent values. Values in other
    // fields were never issued to a device.
    var after = next.payload
    for (name, value) in next.left ?? [:] where next.payload[name] != nil { after[name] = value }
    for (name, value) in after {
      write.left[name] = value
      if isSameRow { write.fields[name] = value }
      if next.isDoubted { write.answered.remove(name) } else { write.answered.insert(name) }
    }
    // An operator's values are not the device's.
    let overruled = entered.names.filter { name in
      !isUndo && next.payload[name] != nil && !FieldValue.isSame(entered[name], element?[name])
    }
    guard isSameRow else { return noteBeside(next, overruled) }
    write.own.append(
      MergeBaseRule.PriorWrite(
        dateBefore: next.seen?[OperationRow.dateKey]?.string, date: date))
    if !isUndo { noteGiven(next, after) }
    for (name, value) in next.payload {
      write.sent[name] = value
      write.entered.remove(name)
      write.given[name] = nil
    }
    // If an operator entered another value than the device's, or undid it, the device still has its
    // own.
    for name in isUndo ? next.payload.names : overruled {
      write.sent[name] = element?[name] ?? .null
      write.entered.insert(name)
      write.given[name] = given[next.editID]?[name]
    }
    if isUndo { given[next.editID] = nil }
    if next.editID >= newest?.edit ?? 0 { newest = (next.editID, element) }
  }

  private mutating func noteBeside(_ next: OperationRow, _ overruled: [String]) {
    // The device has seen them in no row.
    for name in overruled { write.left[name] = nil }
    let former = next.seen?.object ?? [:]
    var replaced: JSONObject = [:]
    for name in next.payload.names { replaced[name] = former[name] }
    write.beside.append(
      MergeBaseRule.PriorWrite(
        dateBefore: former[OperationRow.dateKey]?.string, date: next.serverDate,
        replaced: replaced))
  }

  private mutating func noteGiven(_ next: OperationRow, _ after: JSONObject) {
    for name in next.payload.names where given[next.editID]?[name] == nil {
      given[next.editID, default: [:]][name] = MergeBaseRule.Given(
        before: next.expected.detail.fields.first { $0.name == name }?.base, after: after[name],
        date: next.serverDate)
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
