/// The infos of a briefcase target that fetch one object type into one soup.
struct BriefcaseGroup: Sendable, Hashable {
  let sobjectType: String
  let soupName: String
  let idFieldName: String
  let modificationDateFieldName: String
  /// The fields to retrieve: the infos' fields, the ID and the modification date.
  let fields: [String]
}

extension BriefcaseTarget {
  /// The groups to retrieve: infos of the same type and soup are combined, and groups of the same
  /// soup are adjacent.
  var groups: [BriefcaseGroup] {
    var groups: [BriefcaseGroup] = []
    for info in infos {
      let same = groups.firstIndex {
        $0.sobjectType.lowercased() == info.sobjectType.lowercased()
          && $0.soupName == info.soupName
      }
      let group = BriefcaseGroup(info, addingTo: same.map { groups[$0].fields } ?? [])
      if let same { groups[same] = group } else { groups.append(group) }
    }
    var soups: [String] = []
    for group in groups where !soups.contains(group.soupName) { soups.append(group.soupName) }
    return soups.flatMap { soup in groups.filter { $0.soupName == soup } }
  }
}

extension BriefcaseGroup {
  /// The group with other fields.
  func with(_ fields: [String]) -> BriefcaseGroup {
    BriefcaseGroup(
      sobjectType: sobjectType, soupName: soupName, idFieldName: idFieldName,
      modificationDateFieldName: modificationDateFieldName, fields: fields)
  }

  fileprivate init(_ info: BriefcaseObjectInfo, addingTo known: [String]) {
    sobjectType = info.sobjectType
    soupName = info.soupName
    idFieldName = info.idFieldName
    modificationDateFieldName = info.modificationDateFieldName
    // The record's ID shows which of the requested IDs did not arrive.
    fields = IDQuery.fields(
      known, adding: info.fieldlist + [info.idFieldName, info.modificationDateFieldName, "Id"])
  }
}
