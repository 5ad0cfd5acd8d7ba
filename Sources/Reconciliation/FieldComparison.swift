import JSON
import MobileSync

/// One field with the values of all sides.
package struct FieldDifference: Sendable, Hashable {
  /// The field's name.
  package var name: String
  /// What the device was given; nil when there is no base.
  package var base: JSONValue?
  /// What the device holds.
  package var device: JSONValue?
  /// What the org holds; nil when it was not read.
  package var server: JSONValue?
  /// Says that the device and the org changed it to different values.
  package var isConflicting: Bool

  /// A difference.
  package init(
    name: String, base: JSONValue?, device: JSONValue?, server: JSONValue?,
    isConflicting: Bool = false
  ) {
    self.name = name
    self.base = base
    self.device = device
    self.server = server
    self.isConflicting = isConflicting
  }
}

/// The three sides of a record, field by field.
package struct FieldComparison: Sendable, Hashable {
  /// Listed fields that the device changed; without a base, those that differ from the org's.
  package var edited: [FieldDifference]
  /// Listed fields that the org changed and the device did not.
  package var changedOnServer: [FieldDifference]
  /// Edited fields outside the list: they never travel.
  package var outside: [FieldDifference]
  /// Says that the values the device was given are not known.
  package var hasNoBase: Bool

  /// Says whether the org holds what the device holds in every edited field.
  package var isAlreadyThere: Bool {
    edited.allSatisfy { FieldValue.isSame($0.device, $0.server) }
  }

  /// What a person has to see of a conflict: what either side changed.
  package var contested: [FieldDifference] {
    (edited + changedOnServer).sorted { $0.name < $1.name }
  }

  /// Compares `device` with `base` and `server`.
  ///
  /// `listed` are the fields that may travel. Of the other members those are looked at that `base`
  /// is known to have or to lack; Mobile Sync's own and nested records are not fields.
  package init(device: JSONObject, base: BaseRecord?, server: JSONObject?, listed: [String]) {
    hasNoBase = base == nil
    edited = []
    changedOnServer = []
    outside = []
    let inList = Set(listed)
    for name in listed {
      guard let value = device[name] else { continue }
      let theirs = server?[name]
      let difference = Self.difference(name, base, value, theirs, readServer: server != nil)
      if let base, base.knows(name) {
        if !FieldValue.isSame(value, base.fields[name]) {
          edited.append(difference)
        } else if server != nil, !FieldValue.isSame(base.fields[name], theirs) {
          changedOnServer.append(difference)
        }
      } else if server == nil || !FieldValue.isSame(value, theirs) {
        edited.append(difference)
      }
    }
    guard let base else { return }
    for (name, value) in device where !inList.contains(name) && Self.isField(name, value) {
      guard base.knows(name), !FieldValue.isSame(value, base.fields[name]) else { continue }
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
    _ name: String, _ base: BaseRecord?, _ device: JSONValue, _ server: JSONValue?,
    readServer: Bool
  ) -> FieldDifference {
    let known = base?.knows(name) ?? false
    // A bare nil would be JSON's null here: a value that is not known is something else.
    let original: JSONValue? = known ? .some(base?.fields[name] ?? .null) : .none
    let current: JSONValue? = readServer ? .some(server ?? .null) : .none
    let differs = readServer && !FieldValue.isSame(device, server)
    let bothChanged =
      !known || (!FieldValue.isSame(device, original) && !FieldValue.isSame(server, original))
    return FieldDifference(
      name: name, base: original, device: device, server: current,
      isConflicting: differs && bothChanged)
  }
}

extension BaseRecord {
  /// Says whether the base tells what a member was.
  func knows(_ name: String) -> Bool { isComplete || fields[name] != nil }
}

/// Chooses what an edit is compared with.
package enum BaseRule {
  /// What our own last settled write of a lineage left.
  package struct OwnWrite: Sendable, Hashable {
    /// The server's modification date after it.
    package var date: String
    /// The compared fields after it.
    package var fields: JSONObject
    /// What was sent; where the device still holds that, it has not edited the field since, even
    /// if the org made something else of it.
    package var sent: JSONObject

    /// A write.
    package init(date: String, fields: JSONObject, sent: JSONObject = [:]) {
      self.date = date
      self.fields = fields
      self.sent = sent
    }
  }

  /// The date and values that the device's edit stands on.
  package struct Choice: Sendable, Hashable {
    /// The date that stands for the device's copy: its own, or that of our later write.
    package var date: String?
    /// The values; nil when they are not known.
    package var base: BaseRecord?
  }

  /// The base of an edit.
  ///
  /// The issued element is one only if its date equals the device's. A device that synchronised on
  /// its own has newer values: if the server has not moved past the device's date, the server's
  /// values are the base; otherwise there is none. What our own write left is a base where the
  /// device's copy is older than it.
  package static func choose(
    device: JSONObject, deviceDate: String?, issued: BaseRecord?, ownWrite: OwnWrite?,
    serverDate: String?,
    serverFields: JSONObject?
  ) -> Choice {
    if let ownWrite, isBefore(deviceDate, ownWrite.date) {
      // The issued element still tells what was outside the list.
      var fields = issued?.modificationDate == deviceDate ? issued?.fields ?? [:] : [:]
      for (name, value) in ownWrite.fields {
        let sent = ownWrite.sent[name]
        fields[name] = sent != nil && FieldValue.isSame(sent, device[name]) ? sent : value
      }
      return Choice(
        date: ownWrite.date, base: BaseRecord(modificationDate: ownWrite.date, fields: fields))
    }
    if let issued, let deviceDate, let issuedDate = issued.modificationDate,
      ServerDate.isSame(issuedDate, deviceDate)
    {
      return Choice(
        date: deviceDate, base: completed(issued, serverDate: serverDate, with: serverFields))
    }
    if let deviceDate, let serverDate, let serverFields,
      !ServerDate.isBefore(deviceDate, serverDate)
    {
      return Choice(
        date: deviceDate, base: BaseRecord(modificationDate: serverDate, fields: serverFields))
    }
    return Choice(date: deviceDate, base: nil)
  }

  /// A base keeps some fields only; where the server has not moved, its values tell the others.
  private static func completed(
    _ issued: BaseRecord, serverDate: String?, with fields: JSONObject?
  ) -> BaseRecord {
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
