import SQLite
import System

/// Creates a large number of records of one object with plain values.
struct BulkSeeder {
  let store: OrgStore
  let seed: UInt64

  /// How a column is filled from a row's number.
  private enum Filling {
    case fixed(SQLiteValue)
    case texts([SQLiteValue])
    case numbered(String)
    case whole(Int)
    case decimal(Int)
    case day
    case moment
  }

  func run(object: String, count: Int, owner username: String?) throws {
    let table = try store.table(object)
    let integration = try store.users(
      where: "u.\"Username\" = \(OrgUser.integrationUsername)"
    ).first
    let owner =
      try username.map { try store.user(named: $0) } ?? integration
      ?? store.user(named: OrgUser.adminUsername)
    let fillings = fillings(table, owner: owner.id)
    // Indexes are built at the end, unless most of the records are there already.
    let existing = try store.connection.integer("SELECT COUNT(*) FROM \(raw: table.table)") ?? 0
    let indexes = existing > count ? [] : table.indexes
    for index in indexes {
      try store.connection.execute("DROP INDEX IF EXISTS \(index.name)")
    }
    let now = store.clock.now() / 1000 * 1000
    let statement = try store.connection.prepare(table.insert)
    // Bindings persist, so values that are equal in all rows are bound once.
    for (place, filling) in fillings.enumerated() {
      if case .fixed(let value) = filling { try statement.bind(Int32(place + 2), value) }
    }
    var start = 0
    while start < count {
      let end = min(count, start + 50_000)
      try store.transaction {
        for number in start..<end {
          try insert(number, of: count, table, statement, fillings, now: now)
        }
      }
      start = end
    }
    for index in indexes { try store.connection.execute(index.creation) }
    try store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func insert(
    _ number: Int, of count: Int, _ table: StoredObject, _ statement: Statement,
    _ fillings: [Filling], now: Int64
  ) throws {
    let prefix = table.schema.keyPrefix
    let sequence = store.nextSequence(prefix)
    // Over thirty days, with the last record a minute ago.
    let step = max(1, Int64(30) * 86_400 / Int64(count))
    let moment = Dates.salesforce(
      now - 60_000 - min(Int64(count - number) * step, 30 * 86_400) * 1000)
    try statement.bind(1, sequence)
    for (place, filling) in fillings.enumerated() {
      let index = Int32(place + 2)
      if place == 0 {
        try statement.bind(index, OrgID.make(prefix: prefix, sequence: sequence))
        continue
      }
      switch filling {
      case .fixed: break
      case .texts(let values): try statement.bind(index, values[number % values.count])
      case .numbered(let text): try statement.bind(index, text + String(sequence))
      case .whole(let bound): try statement.bind(index, (number &* 7919) % bound)
      case .decimal(let bound): try statement.bind(index, Double((number &* 7919) % bound) / 4)
      case .day: try statement.bind(index, String(moment.prefix(10)))
      case .moment: try statement.bind(index, moment)
      }
    }
    try statement.execute()
  }

  /// Returns how each column is filled; the audit fields and the owner are the same in all rows.
  private func fillings(_ table: StoredObject, owner: String) -> [Filling] {
    var random = SeedRandom(seed)
    return table.fields.map { field in
      switch field.name {
      case "IsDeleted", "IsClosed": return .fixed(0)
      case "CreatedById", "LastModifiedById", "OwnerId": return .fixed(.text(owner))
      case "CreatedDate", "LastModifiedDate", "SystemModstamp": return .moment
      case "ClosedDate", "Description": return .fixed(.null)
      default: break
      }
      // Half of the addresses stay empty, as in an org.
      if let whole = field.compoundFieldName, ["OtherAddress", "ShippingAddress"].contains(whole) {
        return .fixed(.null)
      }
      switch field.type {
      case .reference: return .fixed(.null)
      case .boolean: return .fixed(.integer(field.defaultValue == "true" ? 1 : 0))
      case .int: return .whole(10_000)
      case .double where field.compoundFieldName != nil: return .fixed(.null)
      case .double, .currency: return .decimal(field.precision - field.scale > 4 ? 100_000 : 1000)
      case .percent: return .decimal(400)
      case .date: return .day
      case .datetime: return .moment
      case .email: return .texts((0..<200).map { .text("person\($0)@example.com") })
      case .phone: return .texts((10..<99).map { .text("+1 555 01\($0)") })
      case .picklist, .multipicklist, .combobox:
        let values = field.picklistValues.map { SQLiteValue.text($0.value) }
        return values.isEmpty ? .fixed("Other") : .texts(values)
      case .url: return .texts((0..<100).map { .text("https://site\($0).example.com") })
      case .textarea where field.length > 4000:
        return .texts((1...8).map { .text(longText($0 * 1000)) })
      case .textarea: return .texts(SeedWords.notes.map { .text($0) })
      default:
        if field.autoNumber || field.unique { return .numbered("N-") }
        if field.nameField { return .numbered("\(random.pick(SeedWords.animals)) ") }
        return .texts((0..<64).map { _ in .text(words(&random, limit: field.length)) })
      }
    }
  }

  /// Returns a text of the given length.
  private func longText(_ length: Int) -> String {
    let notes = SeedWords.notes.joined(separator: " ") + " "
    let copies = repeatElement(notes, count: length / notes.count + 1)
    return String(copies.joined().prefix(length))
  }

  private func words(_ random: inout SeedRandom, limit: Int) -> String {
    let text = "\(random.pick(SeedWords.colours)) \(random.pick(SeedWords.animals))"
    return String(text.prefix(max(1, limit)))
  }
}
