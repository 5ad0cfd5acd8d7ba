import JSON
import Salesforce

/// The store file and the sync file of a new pipeline.
package struct StoreDraft: Sendable {
  package let schema: [UInt8]
  package let syncs: [UInt8]
  /// Whether there is a sync up.
  let sendsEdits: Bool

  /// An app's own files, unchanged.
  package init(schema: [UInt8], syncs: [UInt8]) {
    (self.schema, self.syncs) = (schema, syncs)
    let list = (try? JSONValue(parsing: syncs))?["syncs"]?.array ?? []
    sendsEdits = list.contains { $0["syncType"]?.string == "syncUp" }
  }

  /// Creates a soup for each object, with a sync down of the fields that the user works with and a
  /// sync up of those that the user may edit.
  ///
  /// `edited` has the fields on page layouts, by object; an object that is missing has all fields.
  package init(
    _ objects: [Describe], edited: [String: Set<String>] = [:]
  ) throws(PipelineError) {
    var soups: [JSONValue] = []
    var syncs: [JSONValue] = []
    for object in objects {
      let fields = Fields(object, edited[object.name])
      soups.append(["soupName": .string(object.name), "indexes": fields.indexes])
      syncs.append(try fields.down())
      if let up = fields.up { syncs.append(up) }
    }
    schema = JSONValue.object(["soups": .array(soups)]).fileBytes
    self.syncs = JSONValue.object(["syncs": .array(syncs)]).fileBytes
    sendsEdits = syncs.contains { $0["syncType"]?.string == "syncUp" }
  }

  /// A minimal store, for a login that requests the descriptions of objects.
  package static let provisional = StoreDraft(
    schema: Array(
      #"{"soups":[{"soupName":"User","indexes":[{"path":"Id","type":"string"},{"path":"__local__","type":"string"}]}]}"#
        .utf8),
    syncs: Array(
      #"{"syncs":[{"syncName":"down","syncType":"syncDown","soupName":"User","target":{"type":"soql","query":"SELECT Id, LastModifiedDate FROM User"},"options":{"mergeMode":"OVERWRITE"}}]}"#
        .utf8))
}

/// The fields of an object that a device needs.
private struct Fields {
  let object: Describe
  /// The fields with a simple value that the user works with.
  private let plain: [Describe.Field]

  /// The types whose values a soup cannot hold as one value, or a query cannot return with others.
  private static let others: Set<String> = [
    "address", "location", "base64", "complexvalue", "json", "anyType", "encryptedstring",
  ]
  private static let dates = ["LastModifiedDate", "SystemModstamp", "CreatedDate"]

  /// What the org or its data services keep, and no user types in.
  private static let computed: Set<String> = [
    "Jigsaw", "JigsawCompanyId", "JigsawContactId", "DandbCompanyId", "DunsNumber", "NaicsCode",
    "NaicsDesc", "SicDesc", "Tradestyle", "YearStarted", "EmailBouncedReason", "EmailBouncedDate",
    "IsEmailBounced", "PhotoUrl", "LastViewedDate", "LastReferencedDate", "IndividualId",
    "OperatingHoursId", "MasterRecordId",
  ]
  private static let computedEnds = ["GeocodeAccuracy", "CleanStatus", "Latitude", "Longitude"]

  init(_ object: Describe, _ edited: Set<String>?) {
    self.object = object
    plain = object.fields.filter { field in
      if Self.others.contains(field.type) { return false }
      let isNeeded = field.isCreateable && !field.isNillable && !field.isDefaultedOnCreate
      if field.name == "Name" || field.isExternalID || field.isAutoNumber || isNeeded {
        return true
      }
      if Self.computed.contains(field.name)
        || Self.computedEnds.contains(where: field.name.hasSuffix)
      {
        return false
      }
      return edited?.contains(field.name) ?? true
    }
  }

  /// The date field by which changes are found.
  private var date: String? {
    Self.dates.lazy.compactMap { object.field($0)?.name }.first
  }

  private func names(_ matches: (Describe.Field) -> Bool) -> [String] {
    plain.filter(matches).map(\.name)
  }

  /// The fields to fetch: names, editable fields and external IDs, without the org's internal
  /// fields.
  private var read: [String] {
    names {
      $0.isCreateable || $0.isUpdateable || $0.isExternalID || $0.isAutoNumber || $0.name == "Name"
    }
  }

  private var updated: [String] { names { $0.isUpdateable && $0.name != "OwnerId" } }
  private var created: [String] { names { $0.isCreateable && $0.name != "OwnerId" } }

  var indexes: JSONValue {
    let named = plain.filter {
      $0.name == "Name" || $0.isExternalID || $0.isAutoNumber
        || ($0.type == "reference" && $0.name != "OwnerId" && ($0.isCreateable || $0.isUpdateable))
    }
    let columns = ["Id"] + named.map(\.name)
    let flags = ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"]
    return .array(
      (columns + flags).map { ["path": .string($0), "type": "string"] }
        + [["path": "__sync_id__", "type": "integer"]])
  }

  func down() throws(PipelineError) -> JSONValue {
    guard object.isQueryable, let date else {
      throw PipelineError(
        .configuration, "init.object",
        object.isQueryable
          ? "records of \(object.name) have no date by which changes could be found"
          : "records of \(object.name) cannot be queried",
        fix: "remove it from --object")
    }
    let list = (["Id"] + read + [date]).reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    var target: JSONObject = ["type": "soql"]
    target["query"] = .string("SELECT \(list.joined(separator: ", ")) FROM \(object.name)")
    if date != Self.dates[0] { target["modificationDateFieldName"] = .string(date) }
    return [
      "syncName": .string("syncDown" + object.name), "syncType": "syncDown",
      "soupName": .string(object.name), "target": .object(target),
      "options": ["mergeMode": "LEAVE_IF_CHANGED"],
    ]
  }

  var up: JSONValue? {
    guard object.isUpdateable, !updated.isEmpty else { return nil }
    var target: JSONObject = [:]
    if object.isCreateable { target["createFieldlist"] = JSONValue(created) }
    if let date, date != Self.dates[0] { target["modificationDateFieldName"] = .string(date) }
    return [
      "syncName": .string("syncUp" + object.name), "syncType": "syncUp",
      "soupName": .string(object.name), "target": .object(target),
      "options": ["fieldlist": JSONValue(updated), "mergeMode": "LEAVE_IF_CHANGED"],
    ]
  }
}
