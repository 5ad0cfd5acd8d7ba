import JSON
import LocalOrg
import SmartStore
import TestSupport

/// The rules for the stores that a run makes.
extension Book {
  /// Each user's newest stores have what the user sees in the org.
  mutating func judgeStores(in world: World) throws {
    for name in ["ada", "ben"] {
      guard let user = world.org.user(named: name + "@example.com"),
        let generation = try world.data.generations(of: user.id).last
      else { throw Violation("\(name) has no generation") }
      let place = world.data.generation(generation, of: user.id)
      let seen = try Soup.all.map { try ($0, Self.seen($0, user, in: world)) }
      for path in try Self.stores(place) {
        let store = try Store(opening: path, readOnly: true)
        for (soup, seen) in seen { try judge(store, path, soup, seen, user, in: world) }
        try store.close()
      }
    }
  }

  private static func stores(_ place: String) throws -> [String] {
    try HistoryFiles.all(in: place).filter { $0.hasSuffix(".sqlite") || $0.hasSuffix(".db") }
  }

  private static func fields(of soup: Soup) -> [String] {
    ["Id", soup.marker] + soup.listed + [soup.unlisted]
  }

  /// What a user sees in the org: the values of a soup's fields, by the record's ID.
  private static func seen(
    _ soup: Soup, _ user: OrgUser, in world: World
  ) throws -> [String: [String?]] {
    let fields = fields(of: soup)
    let page = try world.org.query(
      "SELECT \(fields.joined(separator: ", ")) FROM \(soup.sobject) LIMIT 2000", as: user)
    var seen: [String: [String?]] = [:]
    for value in try JSONValue(parsing: page.records).array ?? [] {
      seen[value["Id"]?.string ?? ""] = fields.map { value[$0]?.string }
    }
    return seen
  }

  private mutating func judge(
    _ store: Store, _ path: String, _ soup: Soup, _ seen: [String: [String?]], _ user: OrgUser,
    in world: World
  ) throws {
    let fields = Self.fields(of: soup)
    var seen = seen
    var held: [String: [String?]] = [:]
    // A redelivered row is as its device left it.
    var carried: Set<String> = []
    try store.forEachElement(in: soup.name) { element in
      let value = try element.value()
      let id = value["Id"]?.string ?? ""
      if world.setup.carries, !path.contains("/clean/"), value["__local__"] == true {
        carried.insert(id)
      } else {
        held[id] = fields.map { value[$0]?.string }
      }
    }
    if world.setup.cuts, soup.name == "accounts" {
      // A cut result may leave out any record: those of the store stay while the user sees them.
      let place =
        (path.contains("/clean/") ? ["clean"] : [])
        + path.split(separator: "/").suffix(2).map(String.init)
      let key = "\(user.username)/\(place.joined(separator: "/"))"
      let (before, here) = (kept[key] ?? [], Set(held.keys).union(carried))
      // A record that only a device had is removed when its edit is resolved.
      kept[key] = Set(held.keys).union(carried.intersection(before))
      seen = seen.filter { here.contains($0.key) || before.contains($0.key) }
    }
    for id in carried { seen[id] = nil }
    guard held != seen else { return }
    let wrong = Set(held.keys).union(seen.keys).filter { held[$0] != seen[$0] }.sorted()
    throw Violation(
      "the soup \(soup.name) of \(user.username) is not what the user sees: "
        + wrong.map { "\($0) is \(held[$0] ?? []) there, \(seen[$0] ?? []) in the org" }
        .joined(separator: "; "))
  }
}
