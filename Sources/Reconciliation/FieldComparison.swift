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
  /// Edited fields outside the list, without a base those that differ from the org's: they never travel.
  package var outside: [FieldDifference]
  /// Fields outside the list of which nobody knows what the device was given.
  var unknown: Set<String> = []
  /// Says that the values the device was given are not known.
  package var hasNoBase: Bool
  /// Listed fields whose values in the org are neither what the device was given nor what our own
  /// writes left there, edited on the device or not: somebody else changed them.
  package var foreign: [String]

  /// Those of `edited` in which the device holds what it was given, and may have sent itself what the org holds.
  var putBack: [String] = []

  /// What a person has to see of a conflict: what either side changed.
  package var contested: [FieldDifference] {
    (edited + changedOnServer).sorted { $0.name < $1.name }
  }

  /// What others have entered and a deletion destroys, in fields that the device edited before it, too.
  var destroyed: [FieldDifference] {
    contested.filter { $0.isConflicting || foreign.contains($0.name) }
  }

  /// Compares `device` with `base` and `server`.
  ///
  /// `listed` are the fields that may travel. Of the other members those are looked at that `base`
  /// is known to have or to lack, of objects and arrays only those that it has: an app may keep its own. A field that
  /// `server` has no member for was not read (the sender may not see it, or there is none): its
  /// value is unknown, not null. `left` is what our own writes through other rows left in the org; in fields that are
  /// `unseen` the org holds what the device was never given. `earlier` is what the device's row held when it was sent
  /// last: of fields that never travelled nothing else tells of an edit since. `replaced` is what our own writes through
  /// other rows have replaced since the device's copy was read. In fields that are `doubted` the device itself may have
  /// sent what the org holds: that it holds there what it was given may be its user's last word.
  package init(
    device: JSONObject, base: MergeBase?, server: JSONObject?, listed: [String],
    left: JSONObject = [:], unseen: Set<String> = [], earlier: JSONObject? = nil,
    replaced: JSONObject = [:], doubted: Set<String> = []
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
      let isUnseen = unseen.contains(name) && !FieldValue.isSame(device[name], theirs)
      let isForeign =
        theirs != nil && (isUnseen || expected != nil && !FieldValue.isSame(expected, theirs))
      if isForeign { foreign.append(name) }
      guard let value = device[name] else { continue }
      let difference = Self.difference(name, base, value, theirs, expected: expected)
      let isKnown = base?.knows(name) ?? false
      let isKept =
        isKnown
        ? FieldValue.isEqual(value, base?.fields[name])
        : replaced[name].map { FieldValue.isEqual(value, $0) } ?? false
      if isKept {
        if doubted.contains(name), isForeign || server == nil {
          var field = difference
          field.isConflicting = isForeign
          edited.append(field)
          putBack.append(name)
        } else if isForeign {
          changedOnServer.append(difference)
        }
        continue
      }
      if !isKnown {
        // It was empty when the row was sent last: nobody has emptied it since.
        if let earlier, FieldValue.isSame(value, nil), FieldValue.isSame(earlier[name], nil) {
          continue
        }
        if theirs != nil, FieldValue.isSame(value, theirs) { continue }
      }
      edited.append(difference)
    }
    for (name, value) in device where !inList.contains(name) && Self.isField(name) {
      let theirs = server?[name]
      let isKnown = Self.isScalar(value) ? base?.knows(name) ?? false : base?.fields[name] != nil
      if !isKnown { unknown.insert(name) }
      let isEdited =
        if let base, isKnown {
          !FieldValue.isEqual(value, base.fields[name])
        } else if let earlier {
          !FieldValue.isEqual(value, earlier[name] ?? .null)
        } else if base != nil {
          false
        } else {
          theirs != nil && !FieldValue.isSame(value, theirs)
        }
      guard isEdited else { continue }
      outside.append(
        FieldDifference(name: name, base: base?.fields[name], device: value, server: theirs))
    }
  }

  /// Whether a member of an element holds something of a record: a field, a compound field, or what a query brought
  /// along of related records.
  package static func isField(_ name: String) -> Bool {
    !LocalFields.isOwn(name) && name != "attributes" && name != "Id" && !systemFields.contains(name)
  }

  /// Whether a value has no members of its own.
  static func isScalar(_ value: JSONValue) -> Bool { value.object == nil && value.array == nil }

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
    let original = known ? base?.fields[name] ?? .null : nil
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

extension [FieldDifference] {
  /// Says whether the org is known to hold in each of the fields what would be sent.
  package var areAlreadyThere: Bool {
    allSatisfy { $0.server != nil && FieldValue.isSame($0.sent, $0.server) }
  }
}
