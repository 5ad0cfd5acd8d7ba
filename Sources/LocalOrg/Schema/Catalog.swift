/// Every object of the org, by name and by key prefix.
struct Catalog: Sendable {
  let objects: [ObjectSchema]
  private let byName: [String: Int]
  private let byPrefix: [String: Int]

  /// The org's standard catalog.
  static let standard = Catalog(
    BusinessObjects.all + ServiceObjects.all + SalesObjects.all + FileObjects.all
      + SetupObjects.all)

  init(_ objects: [ObjectSchema]) {
    var linked = objects
    var byName: [String: Int] = [:]
    for (index, object) in objects.enumerated() { byName[object.name.lowercased()] = index }
    for object in objects {
      for field in object.fields {
        for target in field.referenceTo {
          guard let index = byName[target.lowercased()] else { continue }
          linked[index].childRelationships.append(
            ChildRelationship(
              childObject: object.name, field: field.name, name: field.childRelationshipName,
              cascadesDelete: field.cascadesDelete, restrictsDelete: field.restrictsDelete))
        }
      }
    }
    self.objects = linked
    self.byName = byName
    self.byPrefix = Dictionary(
      objects.enumerated().map { ($1.keyPrefix, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the catalog with the setup of its objects' fields.
  func adjusted(by rules: [String: ObjectRules]) -> Catalog {
    Catalog(objects.map { $0.adjusted(by: rules[$0.name] ?? ObjectRules()) })
  }

  /// The object with that name, ignoring case.
  func object(_ name: String) -> ObjectSchema? { byName[name.lowercased()].map { objects[$0] } }

  /// The object of an ID, found by its first three characters.
  func object(ofID id: String) -> ObjectSchema? {
    byPrefix[OrgID.prefix(id)].map { objects[$0] }
  }
}
