import JSON

/// A field as returned by describe, with every key, because clients fail if one is missing.
enum FieldDescription {
  static func of(_ field: FieldSchema, in schema: ObjectSchema) -> JSONObject {
    let isData = !field.isCompound
    let isLongText = field.type == .textarea && field.length > 255
    let isSortable = field.sortable && isData
    return [
      "aggregatable": .bool(
        isData && ![.boolean, .encryptedstring, .base64].contains(field.type) && !isLongText),
      "aiPredictionField": false,
      "autoNumber": .bool(field.autoNumber),
      "byteLength": JSONValue(field.type.isID ? 18 : field.length * (field.type.isText ? 3 : 1)),
      "calculated": .bool(field.calculated),
      "calculatedFormula": field.calculatedFormula.map(JSONValue.string) ?? .null,
      // What happens to children is described by the relationship; here it would mean a master of
      // the record.
      "cascadeDelete": false,
      "caseSensitive": .bool(field.caseSensitive),
      "compoundFieldName": field.compoundFieldName.map(JSONValue.string) ?? .null,
      "controllerName": .null, "createable": .bool(field.createable),
      "custom": .bool(field.custom), "defaultValue": defaultValue(field),
      "defaultValueFormula": .null, "defaultedOnCreate": .bool(field.defaultedOnCreate),
      "dependentPicklist": false, "deprecatedAndHidden": false,
      "digits": JSONValue(field.digits), "displayLocationInDecimal": .bool(field.type == .location),
      "encrypted": .bool(field.type == .encryptedstring), "externalId": .bool(field.externalId),
      "extraTypeInfo": field.type == .textarea ? "plaintextarea" : .null,
      "filterable": .bool(field.filterable), "filteredLookupInfo": .null,
      "formulaTreatNullNumberAsZero": false, "groupable": .bool(field.isGroupable),
      "highScaleNumber": false, "htmlFormatted": false, "idLookup": .bool(field.idLookup),
      "inlineHelpText": .null, "label": .string(field.label),
      "length": JSONValue(field.type.isID ? 18 : field.length),
      "mask": field.mask.map { .string($0.character.rawValue) } ?? .null,
      "maskType": field.mask.map { .string($0.kind.rawValue) } ?? .null,
      "name": .string(field.name), "nameField": .bool(field.nameField),
      "namePointing": .bool(field.isPolymorphic), "nillable": .bool(field.nillable),
      "permissionable": .bool(field.isPermissionable),
      "picklistValues": .array(field.picklistValues.map(picklistValue)),
      "polymorphicForeignKey": .bool(field.isPolymorphic),
      "precision": JSONValue(field.precision), "queryByDistance": .bool(!isData),
      "referenceTargetField": .null, "referenceTo": JSONValue(field.referenceTo),
      "relationshipName": field.relationshipName.map(JSONValue.string) ?? .null,
      "relationshipOrder": .null, "restrictedDelete": false,
      "restrictedPicklist": .bool(field.isRestricted),
      "scale": JSONValue(field.scale),
      "searchPrefilterable": .bool(
        field.type == .reference && !plainReferences.contains(field.name)),
      "soapType": .string(field.soapType), "sortable": .bool(isSortable),
      "type": .string(field.type.rawValue), "unique": .bool(field.unique),
      "updateable": .bool(field.updateable), "writeRequiresMasterRead": false,
    ]
  }

  /// Lookups that do not restrict a search.
  private static let plainReferences: Set = [
    "OwnerId", "CreatedById", "LastModifiedById", "MasterRecordId", "RecordTypeId",
  ]

  private static func defaultValue(_ field: FieldSchema) -> JSONValue {
    guard let text = field.defaultValue else { return field.type == .boolean ? false : .null }
    return field.type == .boolean ? .bool(text == "true") : .string(text)
  }

  private static func picklistValue(_ value: PicklistValue) -> JSONValue {
    [
      "active": true, "defaultValue": .bool(value.isDefault), "label": .string(value.value),
      "validFor": .null, "value": .string(value.value),
    ]
  }
}
