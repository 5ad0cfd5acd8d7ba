/// Shorthand for the catalog: one call creates one field with an org's properties.
extension FieldSchema {
  static func text(_ name: String, _ label: String, _ length: Int) -> FieldSchema {
    var field = FieldSchema(name, label, .string)
    field.length = length
    return field
  }

  static func kind(_ type: FieldType, _ name: String, _ label: String, _ length: Int = 0)
    -> FieldSchema
  {
    var field = FieldSchema(name, label, type)
    field.length = length
    if type == .textarea {
      field.filterable = length <= 255
      field.sortable = length <= 255
    }
    if type == .base64 {
      field.filterable = false
      field.sortable = false
    }
    return field
  }

  static func flag(_ name: String, _ label: String, _ value: Bool = false) -> FieldSchema {
    var field = FieldSchema(name, label, .boolean)
    field.nillable = false
    field.defaultedOnCreate = true
    field.defaultValue = value ? "true" : "false"
    return field
  }

  static func whole(_ name: String, _ label: String, digits: Int) -> FieldSchema {
    var field = FieldSchema(name, label, .int)
    field.digits = digits
    return field
  }

  static func decimal(
    _ type: FieldType, _ name: String, _ label: String, _ precision: Int, _ scale: Int
  ) -> FieldSchema {
    var field = FieldSchema(name, label, type)
    field.precision = precision
    field.scale = scale
    return field
  }

  static func choice(
    _ name: String, _ label: String, _ values: [String], default value: String? = nil
  )
    -> FieldSchema
  {
    var field = FieldSchema(name, label, .picklist)
    // A custom field has up to 255 characters.
    field.length = name.hasSuffix("__c") ? 255 : 40
    field.picklistValues = values.map { PicklistValue(value: $0, isDefault: $0 == value) }
    field.defaultValue = value
    field.defaultedOnCreate = value != nil
    return field
  }

  static func lookup(
    _ name: String, _ label: String, _ targets: [String], _ relationship: String,
    children: String? = nil
  ) -> FieldSchema {
    var field = FieldSchema(name, label, .reference)
    field.length = 18
    field.referenceTo = targets
    field.relationshipName = relationship
    field.childRelationshipName = children
    return field
  }

  static func counter(_ name: String, _ label: String) -> FieldSchema {
    var field = FieldSchema(name, label, .string).readOnly
    field.length = 255
    field.autoNumber = true
    field.defaultedOnCreate = true
    field.nillable = false
    field.idLookup = true
    field.nameField = true
    return field
  }

  /// A compound address and its parts, named `<prefix>Street` and so on.
  static func address(_ prefix: String, _ label: String) -> [FieldSchema] {
    let compound = prefix + "Address"
    var parts = [
      kind(.textarea, prefix + "Street", label + " Street", 255),
      text(prefix + "City", label + " City", 40),
      text(prefix + "State", label + " State/Province", 80),
      text(prefix + "PostalCode", label + " Zip/Postal Code", 20),
      text(prefix + "Country", label + " Country", 80),
      decimal(.double, prefix + "Latitude", label + " Latitude", 18, 15),
      decimal(.double, prefix + "Longitude", label + " Longitude", 18, 15),
      choice(
        prefix + "GeocodeAccuracy", label + " Geocode Accuracy", ["Address", "Street", "City"]),
    ]
    for index in parts.indices { parts[index].compoundFieldName = compound }
    var whole = FieldSchema(compound, label + " Address", .address).readOnly
    whole.sortable = false
    return parts + [whole]
  }

  /// The fields with which every object starts.
  static var identity: [FieldSchema] {
    var id = FieldSchema("Id", "Record ID", .id).readOnly
    id.length = 18
    id.nillable = false
    id.defaultedOnCreate = true
    id.idLookup = true
    var deleted = FieldSchema("IsDeleted", "Deleted", .boolean).readOnly
    deleted.nillable = false
    deleted.defaultedOnCreate = true
    deleted.defaultValue = "false"
    return [id, deleted]
  }

  /// The owner, of one of these kinds; the default is the creator.
  static func owner() -> FieldSchema {
    var field = lookup("OwnerId", "Owner ID", ["User"], "Owner")
    field.nillable = false
    field.defaultedOnCreate = true
    return field
  }

  /// The owner of an object whose records queues may own.
  var ownedByQueues: FieldSchema { with { $0.referenceTo = ["User", "Group"] } }

  /// The fields with which every object ends.
  static var audit: [FieldSchema] {
    [
      moment("CreatedDate", "Created Date"),
      lookup("CreatedById", "Created By ID", ["User"], "CreatedBy").readOnly.filled,
      moment("LastModifiedDate", "Last Modified Date"),
      lookup("LastModifiedById", "Last Modified By ID", ["User"], "LastModifiedBy").readOnly.filled,
      moment("SystemModstamp", "System Modstamp"),
    ]
  }

  private static func moment(_ name: String, _ label: String) -> FieldSchema {
    FieldSchema(name, label, .datetime).readOnly.filled
  }

  /// The record is deleted with its parent.
  var cascading: FieldSchema { with { $0.cascadesDelete = true } }
  /// The parent cannot be deleted while the record exists.
  var restricting: FieldSchema { with { $0.restrictsDelete = true } }
  var required: FieldSchema { with { $0.nillable = false } }
  var readOnly: FieldSchema {
    with {
      $0.createable = false
      $0.updateable = false
    }
  }
  var filled: FieldSchema {
    with {
      $0.nillable = false
      $0.defaultedOnCreate = true
    }
  }
  var naming: FieldSchema {
    with {
      $0.nameField = true
      $0.idLookup = false
    }
  }
  var ofTheAdministrator: FieldSchema { with { $0.custom = true } }
  /// An upsert may identify a record by this field, although it is not an external ID.
  var lookedUp: FieldSchema { with { $0.idLookup = true } }
  var externalID: FieldSchema {
    with {
      $0.externalId = true
      $0.idLookup = true
    }
  }
  var uniqueExternalID: FieldSchema {
    with {
      $0.externalId = true
      $0.idLookup = true
      $0.unique = true
    }
  }

  private func with(_ change: (inout FieldSchema) -> Void) -> FieldSchema {
    var copy = self
    change(&copy)
    return copy
  }
}
