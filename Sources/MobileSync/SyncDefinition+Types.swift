import Salesforce

extension SyncDefinition {
  /// The object types that the sync names for a soup, in lower case: a name of an object has no case
  /// for an org.
  ///
  /// A sync up names none but in families: there the elements say what they are.
  package func objectTypes(of soup: String) -> Set<String> {
    let names: [String]
    switch target {
    case .briefcase(let target):
      names = target.infos.filter { $0.soupName == soup }.map(\.sobjectType)
    case .parentChildren(let target): names = Self.types(target.family, of: soup)
    case .syncUp(let target): names = target.family.map { Self.types($0, of: soup) } ?? []
    case .soql(let target):
      let query = try? SOQLText(SOQLText.spacesOnly(target.query))
      names = soupName == soup ? [query?.objectName].compactMap(\.self) : []
    case .sosl(let target): names = soupName == soup ? SOSLFields.objects(in: target.query) : []
    case .mru(let target): names = soupName == soup ? [target.sobjectType] : []
    case .refresh(let target):
      names = [soupName, target.soupName].contains(soup) ? [target.sobjectType] : []
    case .layout, .metadata, .custom: names = []
    }
    return Set(names.map { $0.lowercased() })
  }

  private static func types(_ family: ParentChildrenFamily, of soup: String) -> [String] {
    [family.parent, family.children].filter { $0.soupName == soup }.map(\.sobjectType)
  }
}
