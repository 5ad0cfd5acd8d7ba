import Snapshots
import MobileSync
import Salesforce
import SmartStore
import System

/// What is primed into one store: soups of objects, with a number of records each.
struct Workload: Sendable {
  enum Kind: String, Sendable {
    case contacts
    case twelve
  }

  /// An object and its records.
  struct Part: Sendable {
    let shape: ObjectShape
    let records: Int
  }

  /// The name of its stored pages.
  let name: String
  let parts: [Part]
  private let storeName: String

  init(_ kind: Kind, records: Int) throws {
    storeName = kind.rawValue
    switch kind {
    case .contacts:
      name = "\(ObjectShape.contact.object)-\(records)"
      parts = [Part(shape: .contact, records: records)]
    case .twelve:
      name = "\(kind.rawValue)-\(records)"
      let shapes = TwelveObjects.all
      parts = zip(shapes, try Self.halves(of: records, among: shapes.count)).map(Part.init)
    }
  }

  /// Half of the records for the first, half of the rest for the next, and the remainder for the
  /// last.
  static func halves(of records: Int, among count: Int) throws -> [Int] {
    var sizes: [Int] = []
    var rest = records
    while sizes.count < count - 1 {
      sizes.append(rest / 2)
      rest -= rest / 2
    }
    guard !sizes.contains(0) else {
      throw BenchFailure("\(records) records are too few for \(count) objects")
    }
    return sizes + [rest]
  }

  /// The store on these platforms, in files of this directory.
  func store(
    in directory: String, _ platforms: [Platform] = Platform.allCases, hasFullText: Bool = false
  ) -> PrimeStore {
    PrimeStore(
      storeName: storeName,
      config: StoreConfig(
        soups: parts.map {
          let words = hasFullText ? [ObjectShape.fullTextIndex] : []
          return StoreConfig.Soup(soupName: $0.shape.soup, indexes: $0.shape.indexes + words)
        }),
      syncs: parts.map(\.shape.sync),
      files: Dictionary(
        uniqueKeysWithValues: platforms.map {
          ($0, PrimeFile(new: "\(directory)/\($0.rawValue).db"))
        }))
  }

  /// A session with the org of `OrgChild`.
  static func session(_ options: BenchOptions) async throws -> Session {
    guard let token = ProcessEnvironment.variable(BenchOptions.tokenVariable) else {
      throw BenchFailure("the variable \(BenchOptions.tokenVariable) is not set")
    }
    let org = try Org(url: options.url, credentials: .accessToken(token))
    return try await org.session()
  }
}

/// A benchmark that cannot continue.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
