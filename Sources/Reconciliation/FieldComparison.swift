import JSON
import Ledger
import MobileSync
import Salesforce

/// The three sides of a record, field by field.
///
/// Whether the device edited a field is told by what it holds, text by its bytes; whether somebody
/// else changed it, and whether the org holds a value already, by what the values mean to an org.
package struct FieldComparison: Sendable, Hashable {
  /// Listed fields that the device changed; without a base, those that differ from the org's.
  package var edited: [FieldDifference]
  /// Listed fields that the org changed and the device did not.
  package var changedOnServer: [FieldDifference]
  /// Edited fields outside the list: they never travel.
  package var outside: [FieldDifference]
  /// Says that the values the device was given are not known.
  package var hasNoBase: Bool
  /// Listed fields whose values in the org are neither what the device was given nor what our own
  /// writes left there, edited on the device or not: somebody else changed them.
  package var foreign: [String]

  /// Says whether the org is known to hold what the device holds in every edited field.
  package var isAlreadyThere: Bool {
    edited.allSatisfy { $0.server != nil && FieldValue.isSame($0.device, $0.server) }
  }

  /// What a person has to see of a conflict: what either side changed.
  package var contested: [FieldDifference] {
    (edited + changedOnServer).sorted { $0.name < $1.name }
  }

  /// Compares `device` with `base` and `server`.
  ///
  /// `listed` are the fields that may travel. Of the other members those are looked at that `base`
  /// is known to have or to lack; Mobile Sync's own and nested records are not fields. A field that
  /// `server` has no member for was not read (the sender may not see it, or there is none): its
  /// value is unknown, not null. `left` is what our own writes through other rows left in the org.
  package init(
    device: JSONObject, base: MergeBase?, server: JSONObject?, listed: [String],
    left: JSONObject = [:]
  ) {
    hasNoBase = base == nil
    edited = []
    changedOnServer = []
    outside = []
    foreign = []
    let inList = Set(listed)
    for name in listed {
      let theirs = server?[name]
      let expected = left[name] ?? base?.fields[name]
      let isForeign = expected != nil && theirs != nil && !FieldValue.isSame(expected, theirs)
      if isForeign { foreign.append(name) }
      guard let value = device[name] else { continue }
      let difference = Self.difference(name, base, value, theirs, expected: expected)
      if let base, base.knows(name) {
        if !FieldValue.isEqual(value, base.fields[name]) {
          edited.append(difference)
        } else if isForeign {
          changedOnServer.append(difference)
        }
      } else if theirs == nil || !FieldValue.isSame(value, theirs) {
        edited.append(difference)
      }
    }
    guard let base else { return }
    for (name, value) in device where !inList.contains(name) && Self.isField(name, value) {
      guard base.knows(name), !FieldValue.isEqual(value, base.fields[name]) else { continue }
      outside.append(
        FieldDifference(
          name: name, base: base.fields[name], device: value, server: server?[name]))
    }
  }

  /// Says whether a member of an element can be a field of a record.
  package static func isField(_ name: String, _ value: JSONValue) -> Bool {
    if name.hasPrefix("_") || name == "attributes" || name == "Id" { return false }
    if systemFields.contains(name) { return false }
    return value.object == nil && value.array == nil
  }

  /// What the org sets by itself: a change of it is not an edit.
  private static let systemFields: Set<String> = [
    "LastModifiedDate", "SystemModstamp", "CreatedDate", "LastModifiedById", "CreatedById",
    "LastViewedDate", "LastReferencedDate",
  ]

  private static func difference(
    _ name: String, _ base: MergeBase?, _ device: JSONValue, _ server: JSONValue?,
    expected: JSONValue?
  ) -> FieldDifference {
    let known = base?.knows(name) ?? false
    // A bare nil would be JSON's null here: a value that is not known is something else.
    let original: JSONValue? = known ? .some(base?.fields[name] ?? .null) : .none
    let differs = server != nil && !FieldValue.isSame(device, server)
    let bothChanged =
      !known
      || (!FieldValue.isSame(device, original)
        && !FieldValue.isSame(server, expected ?? original))
    return FieldDifference(
      name: name, base: original, device: device, server: server,
      isConflicting: differs && bothChanged)
  }
}

extension MergeBase {
  /// Says whether the base tells what a member was.
  func knows(_ name: String) -> Bool { isComplete || fields[name] != nil }

  /// Says whether it is what a device was given whose element bears this modification date: one that
  /// synchronised on its own since has other values.
  func isIssued(at deviceDate: String?) -> Bool {
    guard let deviceDate, let modificationDate else { return false }
    return ServerDate.isSame(modificationDate, deviceDate)
  }
}

/// Chooses what an edit is compared with.
package enum MergeBaseRule {
  /// What our own settled writes of a lineage left.
  package struct OwnWrite: Sendable, Hashable {
    /// The server's modification date after the last of them.
    package var date: String
    /// What the writes of the edit's own row left in the fields that they sent.
    package var fields: JSONObject
    /// What those writes sent; where the device still holds that, it has not edited the field since,
    /// even if the org made something else of it.
    package var sent: JSONObject
    /// What all writes left, those of other rows of the device that hold the record too: the org is
    /// expected to hold that, and the row of the edit was never given it.
    package var left: JSONObject

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

  /// The date and values that the device's edit stands on.
  package struct Choice: Sendable, Hashable {
    /// The date that stands for the device's copy: its own, or that of our later write.
    package var date: String?
    /// The values; nil when they are not known.
    package var base: MergeBase?
    /// What our own writes since then left in the org.
    package var left: JSONObject = [:]
  }

  /// The base of an edit.
  ///
  /// The issued element is one only if its date equals the device's. A device that synchronised on
  /// its own has newer values: if the server has not moved past the device's date, the server's
  /// values are the base; otherwise there is none. What our own writes of the row left is a base
  /// where the device's copy is older than they are.
  package static func choose(
    device: JSONObject, deviceDate: String?, issued: MergeBase?, ownWrite: OwnWrite?,
    serverDate: String?,
    serverFields: JSONObject?
  ) -> Choice {
    if let ownWrite, isBefore(deviceDate, ownWrite.date) {
      // The issued element still tells what was outside the list.
      var fields = issued?.isIssued(at: deviceDate) == true ? issued?.fields ?? [:] : [:]
      for (name, value) in ownWrite.fields {
        let sent = ownWrite.sent[name]
        fields[name] = sent != nil && FieldValue.isSame(sent, device[name]) ? sent : value
      }
      return Choice(
        date: ownWrite.date,
        base: fields.isEmpty
          ? nil : MergeBase(modificationDate: ownWrite.date, fields: fields),
        left: ownWrite.left)
    }
    if let issued, issued.isIssued(at: deviceDate) {
      // Dates have one second: a write of ours may bear the date at which the device was primed.
      let isSameSecond = ownWrite.map { ServerDate.isSame($0.date, deviceDate ?? "") } ?? false
      return Choice(
        date: deviceDate, base: completed(issued, serverDate: serverDate, with: serverFields),
        left: isSameSecond ? ownWrite?.left ?? [:] : [:])
    }
    if let deviceDate, let serverDate, let serverFields,
      !ServerDate.isBefore(deviceDate, serverDate)
    {
      return Choice(
        date: deviceDate, base: MergeBase(modificationDate: serverDate, fields: serverFields))
    }
    return Choice(date: deviceDate, base: nil)
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
