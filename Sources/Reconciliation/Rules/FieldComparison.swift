import JSON
import Ledger
import MobileSync
import Salesforce

/// The three sides of a record, field by field.
///
/// Whether the device edited a field is decided by its content, and for text by its bytes. Whether
/// another user changed it, and whether the org already has a value, is decided by what the values
/// mean to the org.
package struct FieldComparison: Sendable, Hashable {
  /// The listed fields that the device changed; without a base, those that differ from the org's.
  package var edited: [FieldDifference]
  /// The listed fields that only the org changed.
  package var changedOnServer: [FieldDifference]
  /// The edited fields outside the list, which are never sent; without a base, those that differ
  /// from the org's.
  package var outside: [FieldDifference]
  /// The fields outside the list whose issued values are unknown.
  package var unknown: Set<String> = []
  /// Whether the values that the device was issued are unknown.
  package var hasNoBase: Bool
  /// The listed fields that another user changed, edited on the device or not: their values in the
  /// org are neither those that the device was issued nor those of prior writes.
  package var foreign: [String]

  /// The fields of `edited` with the values that the device was issued, if the device may itself
  /// have sent the org's values.
  var putBack: [String] = []

  /// The details of a verdict that shows the device's edits.
  var detail: OutcomeDetail {
    var detail = OutcomeDetail()
    (detail.fields, detail.outside, detail.hasNoBase) = (edited, outside, hasNoBase)
    return detail
  }

  /// The fields to show for a conflict: those that either side changed.
  package var contested: [FieldDifference] {
    (edited + changedOnServer).sorted { $0.name < $1.name }
  }

  /// Other users' values that a deletion destroys, including those in fields that the device edited
  /// before it.
  var destroyed: [FieldDifference] {
    contested.filter { $0.isConflicting || foreign.contains($0.name) }
  }

  /// Compares `device` with `base` and `server`.
  ///
  /// `listed` are the fields that may be sent. Of the other members, only those are compared that
  /// `base` is known to have or to lack, and of objects and arrays only those that it has, because
  /// an app may keep its own. A field without a member in `server` was not read, because the sender
  /// may not see it or it does not exist; its value is unknown, not null. `left` has the values
  /// left in the org by attache's writes through other rows. In the `unseen` fields, the org has
  /// values that the device was never issued. `earlier` is the device's row when it was last sent,
  /// which is the only evidence of edits to fields that are never sent. `replaced` has the values
  /// that attache's writes through other rows replaced since the device's copy was read. In the
  /// `doubted` fields, the device itself may have sent the org's values, so an issued value on the
  /// device may be the user's latest.
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
        // The field was empty when the row was last sent, so it has not been cleared since.
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

  /// Whether a member of an element holds data of a record: a field, a compound field, or the
  /// related records that a query returned.
  package static func isField(_ name: String) -> Bool {
    !LocalFields.isOwn(name) && name != "attributes" && name != "Id" && !systemFields.contains(name)
  }

  /// Whether a value has no members.
  private static func isScalar(_ value: JSONValue) -> Bool {
    value.object == nil && value.array == nil
  }

  /// The fields that a device changed, or all that it has if the issued values are unknown.
  package static func changes(_ element: JSONObject, _ base: MergeBase?) -> [FieldDifference] {
    let fields = element.filter { isField($0.0) && isScalar($0.1) }
    let comparison = FieldComparison(
      device: element, base: base, server: nil, listed: fields.map(\.0))
    return comparison.edited + comparison.outside
  }

  /// Fields that the org sets by itself; a change of them is not an edit.
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
  /// Whether the org is known to have the values to send in all of the fields.
  package var areAlreadyThere: Bool {
    allSatisfy { $0.server != nil && FieldValue.isSame($0.sent, $0.server) }
  }
}
