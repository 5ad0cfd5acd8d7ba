import SQLite
import System

/// Creates the records of a seed, one object after the other.
struct SeedMaker {
  let store: OrgStore
  let technicians: [OrgUser]
  private let admin: OrgUser
  private let now: Int64
  private var random: SeedRandom
  private var recordTypes: [String] = []

  init(store: OrgStore, options: SeedOptions) throws {
    self.store = store
    random = SeedRandom(options.seed)
    now = store.clock.now() / 1000 * 1000
    admin = try store.user(named: OrgUser.adminUsername)
    for (username, last) in [(OrgUser.integrationUsername, "Integration")]
    where try store.users(where: "u.\"Username\" = \(username)").isEmpty {
      try store.addUser(username, firstName: nil, lastName: last, profile: "Integration")
    }
    var people: [OrgUser] = []
    for (place, username) in options.technicians.enumerated() {
      if let known = try store.users(where: "u.\"Username\" = \(username)").first {
        people.append(known)
        continue
      }
      let first = username.prefix { $0 != "@" && $0 != "." }
      let last = SeedWords.lastNames[place % SeedWords.lastNames.count]
      people.append(
        try store.addUser(
          username, firstName: first.prefix(1).uppercased() + first.dropFirst(), lastName: last,
          profile: "Field Technician"))
    }
    technicians = people
  }

  // MARK: Objects

  mutating func makeRecordTypes() throws {
    let known = try store.connection.texts(
      "SELECT \"Id\" FROM \"o_RecordType\" WHERE \"SobjectType\" = 'Case' ORDER BY \"seq\"")
    recordTypes = known
    guard known.isEmpty else { return }
    for name in ["Installation", "Repair"] {
      recordTypes.append(
        try store.insert(
          "RecordType",
          [
            "Name": .text(name), "DeveloperName": .text(name), "SobjectType": "Case", "IsActive": 1,
          ], by: admin.id, at: now - 31 * Self.day))
    }
  }

  mutating func makeProducts(_ count: Int) throws {
    for place in 0..<count {
      let created = moment(30, 20)
      let part = random.pick(SeedWords.parts)
      try store.insert(
        "Product2",
        [
          "Name": .text("\(random.pick(SeedWords.colours)) \(part) \(place + 1)"),
          "ProductCode": .text("P-\(1000 + place)"), "Family": .text(part),
          "IsActive": .integer(random.chance(90) ? 1 : 0),
          "StockKeepingUnit": .text("SKU\(100_000 + place * 7)"),
          "Description": .text("\(part) for \(random.pick(SeedWords.machines))s"),
        ], by: admin.id, at: created, modified: later(created))
    }
  }

  mutating func makeAccounts(_ count: Int) throws -> [Seeder.Placed] {
    try (0..<count).map { place in
      let (owner, shared) = hands(place)
      let created = moment(30, 15)
      let name =
        "\(random.pick(SeedWords.colours)) \(random.pick(SeedWords.animals)) "
        + random.pick(SeedWords.trades)
      var values: [String: SQLiteValue] = [
        "Name": .text(place < 8000 ? name : "\(name) \(place)"),
        "Type": .text(random.pick(["Customer", "Customer", "Customer", "Partner", "Prospect"])),
        "Industry": .text(random.pick(["Agriculture", "Construction", "Energy", "Retail"])),
        "AccountNumber": .text("A\(10_000 + place)"), "Phone": .text(phone()),
        "Website": .text("https://site\(place).example.com"),
        "AnnualRevenue": .real(Double(random.below(900) + 10) * 10_000),
        "NumberOfEmployees": .integer(Int64(random.below(900) + 3)), "OwnerId": .text(owner),
      ]
      if random.chance(60) { values["Description"] = .text(random.pick(SeedWords.notes)) }
      for prefix in ["Billing", "Shipping"] { address(prefix, into: &values) }
      let id = try store.insert(
        "Account", values, by: owner, at: created, modified: later(created))
      return try placed(id, owner, shared, created, account: id, place)
    }
  }

  mutating func makeContacts(_ count: Int, _ accounts: [Seeder.Placed]) throws -> [Seeder.Placed] {
    try (0..<count).map { place in
      let account = accounts[place % accounts.count]
      let created = moment(15, 10, after: account.created)
      let first = random.pick(SeedWords.firstNames)
      let last = random.pick(SeedWords.lastNames)
      var values: [String: SQLiteValue] = [
        "FirstName": .text(first), "LastName": .text(last), "AccountId": .text(account.id),
        "Email": .text("\(first).\(last)\(place)@example.com".lowercased()),
        "Phone": .text(phone()), "Title": .text(random.pick(SeedWords.titles)),
        "DoNotCall": .integer(random.chance(10) ? 1 : 0), "OwnerId": .text(account.owner),
      ]
      if random.chance(70) { values["MobilePhone"] = .text(phone()) }
      if random.chance(30) {
        let day = CivilDate(days: random.below(14_000) - 3000)
        values["Birthdate"] = .text(day.text)
      }
      address("Mailing", into: &values)
      let id = try store.insert(
        "Contact", values, by: account.owner, at: created, modified: later(created))
      // A few contacts are not shared with their account.
      let shared = random.chance(90) ? account.shared : []
      return try placed(id, account.owner, shared, created, account: account.id, place)
    }
  }

  mutating func makeCases(_ count: Int, _ contacts: [Seeder.Placed]) throws -> [Seeder.Placed] {
    try (0..<count).map { place in
      let contact = random.pick(contacts)
      let created = moment(10, 1, after: contact.created)
      let machine = random.pick(SeedWords.machines)
      let trouble = random.pick(SeedWords.troubles)
      var values: [String: SQLiteValue] = [
        "Subject": .text("The \(machine) \(trouble)"), "ContactId": .text(contact.id),
        "AccountId": .text(contact.account), "OwnerId": .text(contact.owner),
        "Status": .text(random.pick(["New", "New", "Working", "Escalated", "Closed"])),
        "Priority": .text(random.pick(["High", "Medium", "Medium", "Low"])),
        "Origin": .text(random.pick(["Phone", "Email", "Web"])),
        "Type": .text(random.pick(["Mechanical", "Electrical", "Other"])),
        "Description": .text(random.pick(SeedWords.notes)),
      ]
      if random.chance(70) { values["RecordTypeId"] = .text(random.pick(recordTypes)) }
      let id = try store.insert(
        "Case", values, by: contact.owner, at: created, modified: later(created))
      return try placed(id, contact.owner, contact.shared, created, account: contact.account, place)
    }
  }

  mutating func makeWorkOrders(
    _ count: Int, _ contacts: [Seeder.Placed], _ cases: [Seeder.Placed]
  ) throws -> [Seeder.Placed] {
    try (0..<count).map { place in
      let ofCase = random.chance(40) ? random.pick(cases) : nil
      let base = ofCase ?? random.pick(contacts)
      let created = moment(8, 1, after: base.created)
      let start = created + Int64(random.below(72) + 4) * Self.hour
      let job = random.pick(SeedWords.jobs)
      var values: [String: SQLiteValue] = [
        "Subject": .text("\(job) the \(random.pick(SeedWords.machines))"),
        "AccountId": .text(base.account), "OwnerId": .text(base.owner),
        "Status": .text(random.pick(["New", "New", "In Progress", "On Hold", "Completed"])),
        "Priority": .text(random.pick(["Low", "Medium", "High", "Critical"])),
        "StartDate": .text(Dates.salesforce(start)),
        "EndDate": .text(Dates.salesforce(start + 4 * Self.hour)),
        "Description": .text(random.pick(SeedWords.notes)),
      ]
      if let ofCase {
        values["CaseId"] = .text(ofCase.id)
      } else {
        values["ContactId"] = .text(base.id)
      }
      address("", into: &values)
      let id = try store.insert(
        "WorkOrder", values, by: base.owner, at: created, modified: later(created))
      return try placed(id, base.owner, base.shared, created, account: base.account, place)
    }
  }

  mutating func makeAppointments(_ count: Int, _ orders: [Seeder.Placed]) throws {
    for place in 0..<count {
      let order = orders[place % orders.count]
      let created = moment(6, 0, after: order.created)
      let start = created + Int64(random.below(96) + 2) * Self.hour
      let hours = random.below(5) + 1
      let id = try store.insert(
        "ServiceAppointment",
        [
          "ParentRecordId": .text(order.id), "AccountId": .text(order.account),
          "Subject": .text("Visit \(place + 1)"), "OwnerId": .text(order.owner),
          "Status": .text(random.pick(["None", "Scheduled", "Dispatched", "Completed"])),
          "EarliestStartTime": .text(Dates.salesforce(start)),
          "DueDate": .text(Dates.salesforce(start + 7 * Self.day)),
          "SchedStartTime": .text(Dates.salesforce(start)),
          "SchedEndTime": .text(Dates.salesforce(start + Int64(hours) * Self.hour)),
          "Duration": .real(Double(hours)),
        ], by: order.owner, at: created, modified: later(created))
      _ = try placed(id, order.owner, order.shared, created, account: order.account, place)
    }
  }

  mutating func makeSiteVisits(_ count: Int, _ orders: [Seeder.Placed]) throws {
    let before = try store.connection.integer("SELECT count(*) FROM \"o_Site_Visit__c\"") ?? 0
    for place in 0..<count {
      let order = orders[random.below(orders.count)]
      let created = moment(8, 0, after: order.created)
      let day = CivilDate(days: Int(created / Self.day) + random.below(20) - 10)
      let tools = SeedWords.equipment.filter { _ in random.chance(40) }
      let id = try store.insert(
        "Site_Visit__c",
        [
          "Name": .text("Visit \(day.text) #\(place + 1)"),
          "External_Id__c": .text("SV-\(100_000 + Int(before) + place)"),
          "Account__c": .text(order.account), "Work_Order__c": .text(order.id),
          "Visit_Date__c": .text(day.text), "Hours__c": .real(Double(random.below(32) + 1) / 4),
          "Cost__c": .real(Double(random.below(90_000)) / 100),
          "Completed__c": .integer(random.chance(50) ? 1 : 0),
          "Notes__c": .text(random.pick(SeedWords.notes)),
          "Equipment__c": tools.isEmpty ? .null : .text(tools.joined(separator: ";")),
          "OwnerId": .text(order.owner),
        ], by: order.owner, at: created, modified: later(created))
      _ = try placed(id, order.owner, order.shared, created, account: order.account, place)
    }
  }

  // MARK: Helpers

  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 86_400_000

  /// Returns the owner of the record at an index and the technicians who see it; one in five is visible
  /// to none of them.
  private mutating func hands(_ place: Int) -> (owner: String, shared: [String]) {
    guard !technicians.isEmpty, place % 5 != 4 else { return (admin.id, []) }
    let first = (place - place / 5) % technicians.count
    guard technicians.count > 1, random.chance(35) else { return (technicians[first].id, []) }
    let second = (first + 1 + random.below(technicians.count - 1)) % technicians.count
    return (technicians[first].id, [technicians[second].id])
  }

  private func placed(
    _ id: String, _ owner: String, _ shared: [String], _ created: Int64, account: String,
    _ place: Int
  ) throws -> Seeder.Placed {
    for user in shared {
      let statement = try store.prepared(
        "INSERT OR REPLACE INTO share (user, record, edit) VALUES (?, ?, 1)")
      try statement.bind(1, user)
      try statement.bind(2, id)
      try statement.execute()
    }
    return Seeder.Placed(
      id: id, owner: owner, shared: shared, created: created, account: account, place: place)
  }

  /// Returns a time between `from` and `to` days ago, but not before `earliest`.
  private mutating func moment(_ from: Int64, _ to: Int64, after earliest: Int64 = .min) -> Int64 {
    let low = max(now - from * Self.day, earliest)
    let high = max(low, now - max(to * Self.day, 60_000))
    return random.among(low...high) / 1000 * 1000
  }

  /// Returns a last modification time for a creation time.
  private mutating func later(_ created: Int64) -> Int64 {
    guard random.chance(40), created < now - 60_000 else { return created }
    return random.among(created...now - 60_000) / 1000 * 1000
  }

  private mutating func phone() -> String { "+1 555 01\(10 + random.below(90))" }

  private mutating func address(_ prefix: String, into values: inout [String: SQLiteValue]) {
    let (town, region) = random.pick(SeedWords.towns)
    values[prefix + "Street"] = .text("\(random.below(180) + 1) \(random.pick(SeedWords.streets))")
    values[prefix + "City"] = .text(town)
    values[prefix + "State"] = .text(region)
    values[prefix + "PostalCode"] = .text(String(10_000 + random.below(80_000)))
    values[prefix + "Country"] = "Freedonia"
  }
}
