import JSON
import Salesforce

/// A sync up: the fields to send and the kind of request.
public struct SyncUpTarget: FieldNaming, SyncTargetKind {
  /// The kind of request for the changes.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Collections of up to 200 records: the default since SDK 10.1.
    case collection
    /// Composite requests of up to 25 records.
    case batch
    /// One request per record.
    case single
    /// One composite request per parent with its children.
    case parentChildren
    /// A class of the app; read as a `CustomTarget`.
    case custom

    /// The maximum number of records in one request, and the default.
    public var mostRecords: Int {
      switch self {
      case .collection: RequestLimits.collection
      case .batch: RequestLimits.composite
      case .single, .parentChildren, .custom: 1
      }
    }

    /// The SDK's class; nil for the kind that needs no name, and for a class of the app.
    var className: String? {
      switch self {
      case .collection, .custom: nil
      case .batch: "BatchSyncUpTarget"
      case .single: "SyncUpTarget"
      case .parentChildren: "ParentChildrenSyncUpTarget"
      }
    }
  }

  /// The kind of request.
  public var kind: Kind
  /// The fields that a create sends; nil for those of the options.
  ///
  /// An empty list sends no fields.
  public var createFieldlist: [String]?
  /// The fields that an update sends; nil for those of the options.
  ///
  /// An empty list sends no fields.
  public var updateFieldlist: [String]?
  /// The external ID by which creates are upserted.
  public var externalIdFieldName: String?
  /// The number of records per request, at most what the kind allows.
  public var maxBatchSize: Int
  /// The field names and classes common to all targets.
  public var fields: TargetFields
  /// The parents and children of a parent-children sync up.
  public var family: ParentChildrenFamily?
  /// The fields that a create of a child sends.
  public var childrenCreateFieldlist: [String]?
  /// The fields that an update of a child sends.
  public var childrenUpdateFieldlist: [String]?

  /// Creates a target.
  public init(
    kind: Kind = .collection, createFieldlist: [String]? = nil, updateFieldlist: [String]? = nil,
    externalIdFieldName: String? = nil, maxBatchSize: Int? = nil,
    fields: TargetFields = TargetFields()
  ) {
    self.kind = kind
    self.createFieldlist = createFieldlist
    self.updateFieldlist = updateFieldlist
    self.externalIdFieldName = externalIdFieldName
    self.maxBatchSize = min(maxBatchSize ?? kind.mostRecords, kind.mostRecords)
    self.fields = fields
    // A stored target shows its kind only by its classes.
    if fields.iOSImpl == nil, fields.androidImpl == nil, let name = kind.className {
      self.fields.iOSImpl = "SF" + name
      self.fields.androidImpl = "com.salesforce.androidsdk.mobilesync.target." + name
    }
  }

  static let keys = ["createFieldlist", "updateFieldlist", "externalIdFieldName", "maxBatchSize"]

  init?(_ object: ConfigurationObject, _ kind: Kind) {
    self.init(
      kind: kind, createFieldlist: object.strings("createFieldlist"),
      updateFieldlist: object.strings("updateFieldlist"),
      externalIdFieldName: object.text("externalIdFieldName"),
      maxBatchSize: object.int("maxBatchSize", default: kind.mostRecords, in: 1...Int.max),
      fields: TargetFields(object))
    // An SDK class may also be listed under "custom".
    let isCustom =
      object["type"]?.string == "custom" && (fields.iOSImpl ?? fields.androidImpl) != nil
    if let type = object["type"], type.string != "rest", !isCustom {
      object.reader.report(
        type, "the target of a sync up has no \"type\" other than \"rest\"", "remove \"type\"")
    }
    guard kind == .parentChildren else { return }
    family = ParentChildrenFamily(object)
    // The SDK accepts an empty list.
    func list(_ name: String) -> [String]? {
      object.required(name, "[\"LastName\"]").flatMap { object.reader.strings($0) }
    }
    childrenCreateFieldlist = list("childrenCreateFieldlist")
    childrenUpdateFieldlist = list("childrenUpdateFieldlist")
    if family == nil { return nil }
  }

  package var json: JSONValue {
    let sized = kind == .collection || kind == .batch
    return fields.json(
      type: nil,
      [
        ("createFieldlist", createFieldlist.map { JSONValue($0) }),
        ("updateFieldlist", updateFieldlist.map { JSONValue($0) }),
        ("externalIdFieldName", externalIdFieldName.map(JSONValue.string)),
        ("maxBatchSize", sized ? .some(JSONValue(maxBatchSize)) : .none),
        ("parent", family?.parent.json), ("children", family?.children.json),
        ("relationshipType", family.map { .string($0.relationshipType.rawValue) }),
        ("childrenCreateFieldlist", childrenCreateFieldlist.map { JSONValue($0) }),
        ("childrenUpdateFieldlist", childrenUpdateFieldlist.map { JSONValue($0) }),
      ])
  }
}

extension SyncUpTarget {
  /// Why the target cannot send by its ID field; nil if it can.
  ///
  /// An org updates and deletes a record only by its Id; in the SDK, any other value fails for each
  /// record.
  package var idProblem: (field: String, message: String, fix: String)? {
    let standard = TargetFields().idFieldName
    let names = family.map { [$0.parent.idFieldName, $0.children.idFieldName] } ?? [idFieldName]
    guard let field = names.first(where: { $0 != standard }) else { return nil }
    return (
      field,
      "a sync up cannot identify records by \(field): the org updates and deletes them by \(standard)",
      "remove \"idFieldName\", select \(standard) and \(field) in the sync down, and name \(field) "
        + "as \"externalIdFieldName\" to upsert new records"
    )
  }

  /// Returns the time that a request names so that the org changes only the version that was read.
  ///
  /// The org accepts it only with an update, and compares it with its own modification date.
  func condition(of operation: SyncOperation, _ server: ServerState?) -> Int64? {
    guard operation == .update, fields.hasOrgDate, case .alive(let date?)? = server else {
      return nil
    }
    return date.milliseconds
  }

  /// Returns the kind to which a target's class names map.
  static func kind(of node: JSONNode, _ reader: ConfigurationReader) -> Kind {
    let named = ["iOSImpl", "androidImpl"].compactMap { key -> (JSONNode, Kind)? in
      guard let value = node[key], let name = reader.string(value), !name.isEmpty else {
        return nil
      }
      return (value, kind(ofClass: name))
    }
    guard let first = named.first else { return .collection }
    if let other = named.dropFirst().first, other.1 != first.1 {
      reader.report(
        other.0,
        "this class is a \(other.1.rawValue) target, the class for iOS a \(first.1.rawValue) target",
        "name the same kind for both platforms")
    }
    return first.1
  }

  /// Returns the kind to which a class name maps.
  static func kind(ofClass name: String) -> Kind {
    let last = name.split(separator: ".").last.map(String.init) ?? name
    return switch last.hasPrefix("SF") ? String(last.dropFirst(2)) : last {
    case "SyncUpTarget": .single
    case "BatchSyncUpTarget": .batch
    case "CollectionSyncUpTarget": .collection
    case "ParentChildrenSyncUpTarget": .parentChildren
    default: .custom
    }
  }
}
