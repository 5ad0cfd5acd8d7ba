import JSON
import Ledger
import MobileSync
import Salesforce

extension MergeBase {
  /// Says whether the base tells what a member was.
  func knows(_ name: String) -> Bool { isComplete || fields[name] != nil }

  /// Says whether it is what a device was given whose element bears this modification date: one that
  /// synchronised on its own since has other values.
  ///
  /// An element without a date tells of no other copy.
  package func isIssued(at deviceDate: String?) -> Bool {
    guard let deviceDate else { return true }
    return modificationDate.map { ServerDate.isSame($0, deviceDate) } ?? false
  }

  /// Says the same where the org's record is known, too: a date that no copy of it can bear, later than the record's, is
  /// one that the app has written, and tells of no other copy.
  func isIssued(at deviceDate: String?, serverDate: String?) -> Bool {
    if isIssued(at: deviceDate) { return true }
    guard let deviceDate, modificationDate != nil else { return false }
    return serverDate.map { ServerDate.isBefore($0, deviceDate) } ?? false
  }
}

/// Chooses what an edit is compared with.
package enum MergeBaseRule {
  /// What our own settled writes of a lineage left.
  package struct OwnWrite: Sendable, Hashable {
    /// The latest of the server's modification dates after them.
    package var date: String
    /// What the writes of the edit's own row left in the fields that they sent.
    package var fields: JSONObject
    /// What those writes sent; where the device still holds that, it has not edited the field since,
    /// even if the org made something else of it.
    package var sent: JSONObject
    /// What all writes left, those of other rows of the device that hold the record too: the org is
    /// expected to hold that, and the row of the edit was never given it.
    package var left: JSONObject
    /// The fields whose values in `left` are of writes that were answered: what stands there is what the org made of
    /// them, and nobody took for them what somebody else has made.
    var answered: Set<String> = []
    /// Fields of the edit's own row in which a person entered another value than the device's, or took the device's
    /// back.
    package var entered: Set<String> = []
    /// What the device has been given in those fields: what stands there is nothing that it has seen.
    package var given: [String: Given] = [:]
    /// What the edit's own row held when the last of them was made.
    package var element: JSONObject?
    /// The writes of other rows of the device, the first one first.
    package var beside: [WriteBeside] = []
    /// The record's dates after the writes of the edit's own row.
    package var ownDates: [String] = []

    /// A write; without `left` all was written through one row.
    package init(
      date: String, fields: JSONObject, sent: JSONObject = [:], left: JSONObject? = nil
    ) {
      self.date = date
      self.fields = fields
      self.sent = sent
      self.left = left ?? fields
    }
  }

  /// A write of ours through another row of the device that holds the record, too.
  package struct WriteBeside: Sendable, Hashable {
    /// The record's date before it, as far as it was read.
    package var dateBefore: String?
    /// The record's date after it.
    package var date: String?
    /// What the org held in the fields that it sent.
    package var replaced: JSONObject

    package init(dateBefore: String? = nil, date: String? = nil, replaced: JSONObject) {
      self.dateBefore = dateBefore
      self.date = date
      self.replaced = replaced
    }
  }

  /// What a device has been given in a field before and after a write of ours.
  package struct Given: Sendable, Hashable {
    /// What its copy held before; nil where nobody knows that.
    package var before: JSONValue?
    /// What the write left.
    package var after: JSONValue?
    /// The date of the write: a copy of that date or a later one holds `after`.
    package var date: String?

    package init(before: JSONValue? = nil, after: JSONValue? = nil, date: String? = nil) {
      self.before = before
      self.after = after
      self.date = date
    }
  }

  /// The date and values that the device's edit stands on.
  package struct Choice: Sendable, Hashable {
    /// The date that stands for the device's copy: its own, or that of our later write.
    package var date: String?
    /// The values; nil when they are not known.
    package var base: MergeBase?
    /// What our own writes since then left in the org.
    package var left: JSONObject = [:]
    /// Edited fields in which the org holds what a person entered, while nobody knows what the device was given.
    package var unseen: Set<String> = []
    /// What the row held when it was sent last, where the device's copy is older than that.
    package var earlier: JSONObject?
    /// What our writes through other rows have replaced since the device's copy was read: where it holds that still,
    /// nobody has edited the field in it.
    package var replaced: JSONObject = [:]
  }

  /// The base of an edit.
  ///
  /// The issued element is one unless the device's date says that it has another copy. A device that
  /// synchronised on its own has newer values: if the server's record still bears the device's date, the
  /// server's values are the base; otherwise there is none. What our own writes of the row left is a base
  /// where the device's copy is older than they are.
  package static func choose(
    device: JSONObject, deviceDate: String?, issued: MergeBase?, ownWrite: OwnWrite?,
    serverDate: String?,
    serverFields: JSONObject?
  ) -> Choice {
    var deviceDate = deviceDate
    if let issued, issued.isIssued(at: deviceDate, serverDate: serverDate) {
      deviceDate = issued.modificationDate ?? deviceDate
    }
    if let ownWrite, isBefore(deviceDate, ownWrite.date) {
      return choose(device, deviceDate, issued, ownWrite)
    }
    if let issued, issued.isIssued(at: deviceDate) {
      // Dates have one second: a write of ours may bear the date at which the device was primed.
      let isSameSecond = ownWrite.map { ServerDate.isSame($0.date, deviceDate ?? "") } ?? false
      return Choice(
        date: deviceDate, base: completed(issued, serverDate: serverDate, with: serverFields),
        left: isSameSecond ? ownWrite?.left ?? [:] : [:])
    }
    guard let deviceDate, let serverDate, let serverFields,
      ServerDate.isSame(deviceDate, serverDate)
    else { return Choice(date: deviceDate, base: nil) }
    var choice = Choice(
      date: deviceDate, base: MergeBase(modificationDate: serverDate, fields: serverFields))
    // A write of ours may bear the second in which the device read the record before it.
    for (name, value) in ownWrite?.replaced(since: deviceDate) ?? [:]
    where FieldValue.isSame(value, device[name]) {
      choice.base?.fields[name] = value
      choice.left[name] = ownWrite?.left[name]
    }
    return choice
  }

  /// The base of an edit whose device's copy is older than a write of ours.
  private static func choose(
    _ device: JSONObject, _ deviceDate: String?, _ issued: MergeBase?, _ ownWrite: OwnWrite
  ) -> Choice {
    let issued = issued.flatMap { $0.isIssued(at: deviceDate) ? $0.fields : nil }
    var choice = Choice(date: ownWrite.date, left: ownWrite.left, earlier: ownWrite.element)
    // The issued element still tells what was outside the list.
    var fields = issued ?? [:]
    for (name, value) in ownWrite.fields {
      if let sent = ownWrite.sent[name], FieldValue.isSame(sent, device[name]) {
        fields[name] = sent
        continue
      }
      guard ownWrite.entered.contains(name) else {
        fields[name] = value
        continue
      }
      // What the device edits there it edits over what it was given: what a person made of it, it has not seen.
      var known = ownWrite.given[name]?.before
      if let given = ownWrite.given[name], let date = given.date, !isBefore(deviceDate, date) {
        known = issued?[name] ?? given.after
      }
      fields[name] = known
      choice.left[name] = nil
      if known == nil { choice.unseen.insert(name) }
    }
    if !fields.isEmpty {
      choice.base = MergeBase(modificationDate: ownWrite.date, fields: fields)
    }
    if issued == nil, let deviceDate {
      choice.replaced = ownWrite.replaced(since: deviceDate)
      // Nothing tells what somebody else changed between the copy and a write that went through another row.
      if ownWrite.isOverOthers(since: deviceDate) { choice.date = deviceDate }
    }
    return choice
  }

  /// What a run that the ledger does not know of has written for an edit, as the org shows it: its sender wrote
  /// last, and the record differs from what was issued in nothing but what the device holds.
  ///
  /// Nil where the device has edited nothing else since: then all of it is there.
  package static func presumedWrite(
    device: JSONObject, deviceDate: String?, issued: MergeBase?, serverDate: String?,
    serverFields: JSONObject, listed: [String], senderID: String
  ) -> OwnWrite? {
    guard let serverDate, let issued, issued.isIssued(at: deviceDate),
      serverFields["LastModifiedById"]?.string?.recordID18 == senderID
    else { return nil }
    var written: JSONObject = [:]
    var isLater = false
    for name in listed {
      guard issued.knows(name), let held = serverFields[name] else { return nil }
      if FieldValue.isSame(held, issued.fields[name]) {
        isLater = isLater || !FieldValue.isSame(held, device[name])
        continue
      }
      guard FieldValue.isSame(held, device[name]) else { return nil }
      written[name] = held
    }
    return written.isEmpty || !isLater ? nil : OwnWrite(date: serverDate, fields: written)
  }

  /// A base keeps some fields only; where the server has not moved, its values tell the others.
  private static func completed(
    _ issued: MergeBase, serverDate: String?, with fields: JSONObject?
  ) -> MergeBase {
    guard let fields, let serverDate, let date = issued.modificationDate, !issued.isComplete,
      ServerDate.isSame(date, serverDate)
    else { return issued }
    var base = issued
    for (name, value) in fields where base.fields[name] == nil { base.fields[name] = value }
    return base
  }

  private static func isBefore(_ deviceDate: String?, _ date: String) -> Bool {
    guard let deviceDate else { return true }
    return ServerDate.isBefore(deviceDate, date)
  }
}

extension MergeBaseRule.OwnWrite {
  /// What the org held before the writes through other rows that a copy of a date has not seen.
  func replaced(since date: String) -> JSONObject {
    beside.reduce(into: [:]) { values, write in
      guard let left = write.date, !ServerDate.isBefore(left, date) else { return }
      for (name, value) in write.replaced where values[name] == nil { values[name] = value }
    }
  }

  /// Whether a write through another row went over a state that is later than a copy of a date, and that no write of
  /// the device's had left.
  func isOverOthers(since date: String) -> Bool {
    let left = beside.compactMap(\.date) + ownDates
    return beside.contains { write in
      guard let before = write.dateBefore, ServerDate.isBefore(date, before) else { return false }
      return !left.contains { ServerDate.isSame($0, before) }
    }
  }
}
