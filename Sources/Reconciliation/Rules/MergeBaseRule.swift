import JSON
import Ledger
import MobileSync
import Salesforce

extension MergeBase {
  /// Whether the base has a member's value, or is known to lack the member.
  package func knows(_ name: String) -> Bool { isComplete || fields[name] != nil }

  /// Whether the base was issued to a device whose element has this modification date.
  ///
  /// A device that has since synced by itself has other values.
  ///
  /// An element without a date does not point to another copy.
  package func isIssued(at deviceDate: String?) -> Bool {
    guard let deviceDate else { return true }
    return modificationDate.map { ServerDate.isSame($0, deviceDate) } ?? false
  }

  /// The same if the org's record is known as well.
  ///
  /// A date after the record's own cannot come from a copy of it: the app has written it, and it
  /// does not point to another copy.
  func isIssued(at deviceDate: String?, serverDate: String?) -> Bool {
    if isIssued(at: deviceDate) { return true }
    guard let deviceDate, modificationDate != nil else { return false }
    return serverDate.map { ServerDate.isBefore($0, deviceDate) } ?? false
  }
}

/// Chooses the base that an edit is compared with.
package enum MergeBaseRule {
  /// The date and values that an edit is based on.
  package struct Choice: Sendable, Hashable {
    /// The effective date of the device's copy: its own, or that of a later write.
    package var date: String?
    /// The values; nil if unknown.
    package var base: MergeBase?
    /// The values left in the org by attache's writes since then.
    package var left: JSONObject = [:]
    /// The edited fields in which the org has an operator's value, while the issued value is
    /// unknown.
    package var unseen: Set<String> = []
    /// The row's content when it was last sent, if the device's copy is older than that.
    package var earlier: JSONObject?
    /// The values that attache's writes through other rows replaced since the device's copy was
    /// read.
    ///
    /// A field that still has such a value has not been edited.
    package var replaced: JSONObject = [:]
  }

  /// The base of an edit.
  ///
  /// The issued element is a base unless the device's date points to another copy. A device that
  /// synced by itself has newer values: if the server's record still has the device's date, the
  /// server's values are the base; otherwise there is none. The values after prior writes
  /// of the row are a base if the device's copy is older than the writes.
  package static func choose(
    device: JSONObject, deviceDate: String?, issued: MergeBase?, ownWrite: FieldKnowledge?,
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
      // Dates have whole seconds, so a write may have the date at which the device was primed.
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
    // A write may be in the same second in which the device read the record before it.
    for (name, value) in ownWrite?.replaced(since: deviceDate) ?? [:]
    where FieldValue.isSame(value, device[name]) {
      choice.base?.fields[name] = value
      choice.left[name] = ownWrite?.left[name]
    }
    return choice
  }

  /// The base of an edit whose device's copy is older than a write.
  private static func choose(
    _ device: JSONObject, _ deviceDate: String?, _ issued: MergeBase?, _ ownWrite: FieldKnowledge
  ) -> Choice {
    let issued = issued.flatMap { $0.isIssued(at: deviceDate) ? $0.fields : nil }
    var choice = Choice(date: ownWrite.date, left: ownWrite.left, earlier: ownWrite.element)
    // The issued element still has the values outside the list.
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
      // The device edits the field based on what it was issued; it has not seen an operator's
      // value.
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
      // Changes by others between the copy and a write cannot be detected.
      if ownWrite.isOverOthers(since: deviceDate) { choice.date = deviceDate }
    }
    return choice
  }

  /// The write of a run that the ledger does not know, as inferred from the org: the edit's sender
  /// wrote last, and the record differs from the issued one only in values that the device has.
  ///
  /// Nil if the device has edited nothing else since, because then all of the edit is in the org.
  package static func presumedWrite(
    device: JSONObject, deviceDate: String?, issued: MergeBase?, serverDate: String?,
    serverFields: JSONObject, listed: [String], senderID: String
  ) -> FieldKnowledge? {
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
    return written.isEmpty || !isLater ? nil : FieldKnowledge(date: serverDate, fields: written)
  }

  /// A base has only some of the fields.
  ///
  /// If the server's record has not changed, its values complete the base.
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
