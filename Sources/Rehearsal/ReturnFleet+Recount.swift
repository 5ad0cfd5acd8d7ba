import JSON
import Ledger
import LocalOrg
import SmartStore
import System

// Computes the outcome of a run from the devices' stores and the org alone.
extension ReturnFleet {
  /// The outcome of the edits, as stores and org show it.
  package struct Recount: Sendable {
    /// The number of edits by verdict.
    package var verdicts: [String: Int] = [:]
    /// The number of edits that are neither in a store nor in the org, without a reason.
    package var lost = 0
    /// The number of records created more than once.
    package var doubled = 0
  }

  /// Reads every store and every record.
  package func recount(_ org: Org) throws -> Recount {
    guard let admin = org.user(named: Self.office) else { throw RehearsalError.noUser(Self.office) }
    var made: [String: Int] = [:]
    var editors: [String: Int] = [:]
    var edited: [(id: String, phone: String)] = []
    for number in 0..<returns {
      let store = try deviceStore(number)
      for element in try Self.elements("accounts", store) where element["__local__"]?.bool == true {
        let id = element["Id"]?.string ?? ""
        edited.append((id, element["Phone"]?.string ?? ""))
        editors[id, default: 0] += 1
      }
      for element in try Self.elements("contacts", store) {
        made[element["LastName"]?.string ?? "", default: 0] += 1
      }
      try store.close()
    }
    let phones = try Self.records("SELECT Id, Phone FROM Account", org, admin).reduce(
      into: [String: String]()
    ) { $0[$1["Id"]?.string ?? ""] = $1["Phone"]?.string }
    var count = Recount()
    for (id, phone) in edited {
      let held = phones[id] ?? ""
      let verdict: Verdict? =
        switch held {
        case phone: .updated
        case "office": .conflict
        case "1" where (editors[id] ?? 0) > 1: .deviceConflict
        case "1" where phone.utf8.count > 40: .failed
        default: nil
        }
      if let verdict {
        count.verdicts[verdict.rawValue, default: 0] += 1
      } else {
        count.lost += 1
      }
    }
    let contacts = try Self.records("SELECT LastName FROM Contact", org, admin).reduce(
      into: [String: Int]()
    ) { $0[$1["LastName"]?.string ?? "", default: 0] += 1 }
    for name in made.keys {
      let found = contacts[name] ?? 0
      if found > 0 {
        count.verdicts[Verdict.created.rawValue, default: 0] += 1
      } else {
        count.lost += 1
      }
      count.doubled += max(0, found - 1)
    }
    return count
  }

  /// The minimum number of requests for such a run, sent as each user.
  ///
  /// A user logs in, and both objects are described. The accounts are read first, 2,000 at a time,
  /// because another user may have changed them. The updates carry the date that was read, which
  /// only a composite of 25 supports. The new contacts are sent in collections of 200. Then the
  /// results of both are read once, 2,000 at a time. The integration user logs in.
  package var leastCalls: Int {
    (0..<returns).reduce(1) { sum, number in
      let accounts = edits - creates
      let sent = (0..<accounts).count {
        deed(number, $0) == .update || deed(number, $0) == .failure
      }
      let updates = number % 4 == 1 ? sent - 1 : sent
      return sum + 1 + 2 + Self.calls(accounts, 2000)
        + Self.calls(updates, 25) + Self.calls(creates, 200)
        + Self.calls(updates, 2000) + Self.calls(creates, 2000)
    }
  }

  private static func calls(_ rows: Int, _ size: Int) -> Int { (rows + size - 1) / size }

  private func deviceStore(_ number: Int) throws -> Store {
    let place = Self.store(of: number, in: directory)
    let path = try Self.files(place).first { $0.hasSuffix(".sqlite") || $0.hasSuffix(".db") }
    guard let path else { throw RehearsalError.noStamp(place) }
    return try Store(opening: path, readOnly: true)
  }

  private static func files(_ directory: String) throws -> [String] {
    try Files.list(directory).flatMap { name -> [String] in
      let path = directory + "/" + name
      return Files.isDirectory(path) ? try files(path) : [path]
    }
  }

  private static func elements(_ soup: String, _ store: Store) throws -> [JSONValue] {
    try store.query(QuerySpec(soupName: soup, .all, pageSize: 1_000_000)).map {
      try JSONValue(parsing: $0)
    }
  }

  private static func records(
    _ soql: String, _ org: Org, _ user: OrgUser
  ) throws -> [JSONValue] {
    var page = try org.query(soql, as: user)
    var records = try JSONValue(parsing: page.records).array ?? []
    while let locator = page.locator {
      page = try org.queryMore(locator, as: user)
      records += try JSONValue(parsing: page.records).array ?? []
    }
    return records
  }
}
