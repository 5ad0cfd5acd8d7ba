import Salesforce

extension SyncDefinition {
  /// Whether the sync down may share records, as far as its kind allows it.
  package func mayShare(_ mode: RecordPool.Mode) -> Bool {
    target.of(BriefcaseTarget.self) != nil && mode != .never
      || target.of(SoqlTarget.self) != nil && mode == .always
  }

  /// Whether the records of each object that the sync down fetches may be fetched once for several
  /// users, as far as the user of a session is concerned.
  ///
  /// An object whose description is not known is left out.
  package func sharing(
    _ session: Session, _ mode: RecordPool.Mode, variables: [String: String]
  ) -> [(object: String, shareability: Shareability)] {
    if let target = target.of(BriefcaseTarget.self) {
      return target.groups.compactMap { group in
        session.knownObject(group.sobjectType).map {
          ($0.name, Shareability.of($0, fields: group.fields))
        }
      }
    }
    if let target = target.of(SoqlTarget.self) {
      guard let query = try? target.syncQuery(variables: variables),
        let object = session.knownObject(query.objectName)
      else { return [] }
      return [(object.name, mode == .always ? query.sharing(object) : .separate([Self.costly]))]
    }
    return objects(in: soupName).sorted().map {
      ($0, .separate(["only briefcase and soql syncs share records"]))
    }
  }

  private static let costly =
    "its IDs must be listed first, which prime.share \"always\" does"
}

extension SyncQuery {
  /// Whether the records may be fetched once for several users, as far as the object allows it.
  var mayBeShared: Bool { isDivisible && Shareability.reasons(against: soql).isEmpty }

  /// Whether the records of the query may be fetched once for several users.
  func sharing(_ object: Describe) -> Shareability {
    let found = Shareability.of(object, soql)
    guard case .shared = found, !isDivisible else { return found }
    return .separate(["the query cannot be limited to the IDs of its records"])
  }
}
