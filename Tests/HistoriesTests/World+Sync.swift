import JSON
import LocalOrg

/// A record that an app on the Mobile SDK sent by itself.
struct OwnSync: Sendable, Hashable {
  var phone: Int
  var installation: Int
  var state: Int
  var row: RowID
  var recordID: String
  var marker: String?
  /// Whether the record did not exist before.
  var isMade: Bool
}

/// What apps do by themselves while they are online, as their user and like the Mobile SDK.
extension World {
  /// Sends dirty rows; returns whether one has become clean.
  func syncUp(_ phone: Phone, _ soup: Int, _ most: Int) throws -> Bool {
    guard phone.isInstalled, let user = org.user(named: phone.username) else { return false }
    let dirty = phone.state.rows.keys.filter { soup > 2 || $0.soup == Soup.all[soup].name }
      .sorted { ($0.soup, $0.entry) < ($1.soup, $1.entry) }
    watch.look(.pipeline)
    var sent = 0
    for id in dirty.prefix(most) {
      if try send(id, phone, user) { sent += 1 }
      watch.look(.phone)
    }
    try passSecond()
    return sent > 0
  }

  /// Sends one row; returns whether it is clean afterwards.
  private func send(_ id: RowID, _ phone: Phone, _ user: OrgUser) throws -> Bool {
    guard let row = phone.state.rows[id], let soup = Soup.named(id.soup),
      let element = try phone.elements(id.soup).first(where: { Phone.entry($0) == id.entry })
    else { return false }
    switch row.operation {
    case .dropped:
      try settle(phone, row, nil)
      return true
    case .delete: return try sendDelete(row, element, soup, phone, user)
    case .create: return try sendCreate(row, element, soup, phone, user)
    case .update: return try sendUpdate(row, element, soup, phone, user)
    }
  }

  private func sendDelete(
    _ row: PhoneRow, _ element: JSONObject, _ soup: Soup, _ phone: Phone, _ user: OrgUser
  ) throws -> Bool {
    guard let recordID = row.serverID else { return false }
    if let date = serverDate(recordID, soup, user) {
      guard setup.overwrites || isCurrent(element, date),
        org.delete(soup.sobject, id: recordID, as: user).errors.isEmpty
      else { return false }
    }
    try settle(phone, row, nil, recordID: recordID)
    return true
  }

  private func sendCreate(
    _ row: PhoneRow, _ element: JSONObject, _ soup: Soup, _ phone: Phone, _ user: OrgUser
  ) throws -> Bool {
    let known = Set(watch.records.map(\.id))
    var fields = fields(of: element, [soup.marker] + soup.listed)
    if soup.name == "contacts" { fields["AccountId"] = element["AccountId"] }
    let outcome: RowOutcome
    if soup.name == "visits", setup.visitKey == .external, row.marker != nil {
      outcome = org.upsert(
        soup.sobject, externalField: "External_Id__c", value: element["External_Id__c"]?.string,
        fields, as: user)
    } else {
      fields["External_Id__c"] = nil
      outcome = org.create(soup.sobject, fields, as: user)
    }
    guard let recordID = outcome.id else { return false }
    var object = element
    object["Id"] = .string(recordID)
    try settle(
      phone, row, clean(object, soup, recordID, user), recordID: recordID,
      isMade: !known.contains(recordID))
    return true
  }

  private func sendUpdate(
    _ row: PhoneRow, _ element: JSONObject, _ soup: Soup, _ phone: Phone, _ user: OrgUser
  ) throws -> Bool {
    guard let recordID = row.serverID else { return false }
    guard let date = serverDate(recordID, soup, user) else {
      // The SDK recreates a deleted record.
      guard setup.overwrites, watch.record(recordID)?.isDeleted ?? false else { return false }
      return try sendCreate(row, element, soup, phone, user)
    }
    guard setup.overwrites || isCurrent(element, date) else { return false }
    let outcome = org.update(
      soup.sobject, id: recordID, fields(of: element, soup.sent(setup)), as: user)
    guard outcome.errors.isEmpty else { return false }
    try settle(phone, row, clean(element, soup, recordID, user), recordID: recordID)
    return true
  }

  private func settle(
    _ phone: Phone, _ row: PhoneRow, _ object: JSONObject?, recordID: String? = nil,
    isMade: Bool = false
  ) throws {
    let node = book.newState(after: phone.state.node)
    var sent: Phone.Sent?
    if let recordID, let marker = row.marker { sent = .init(marker: marker, recordID: recordID) }
    try phone.settle(row.id, object, now: deviceNow(), node: node, sent: sent)
    guard let recordID else { return }
    if runs.contains(where: \.isStruck) { book.sentAfterLoss.insert(recordID) }
    book.syncs.append(
      OwnSync(
        phone: phone.number, installation: phone.state.installation, state: node, row: row.id,
        recordID: recordID, marker: row.marker, isMade: isMade))
  }

  /// The element as the sync leaves it: clean, with the server's date.
  private func clean(
    _ element: JSONObject, _ soup: Soup, _ recordID: String, _ user: OrgUser
  ) -> JSONObject {
    var object = element
    for name in ["", "ly_created", "ly_updated", "ly_deleted"] {
      object["__local\(name)__"] = false
    }
    object["LastModifiedDate"] = serverDate(recordID, soup, user).map { .string($0) } ?? .null
    return object
  }

  private func fields(of element: JSONObject, _ names: [String]) -> JSONObject {
    var fields: JSONObject = [:]
    for name in names { fields[name] = element[name] }
    return fields
  }

  /// Nil if the user cannot see the record.
  private func serverDate(_ id: String, _ soup: Soup, _ user: OrgUser) -> String? {
    (try? org.read(soup.sobject, id: id, fields: ["LastModifiedDate"], as: user))?[
      "LastModifiedDate"]?.string
  }

  private func isCurrent(_ element: JSONObject, _ date: String) -> Bool {
    element["LastModifiedDate"]?.string.map { $0 >= date } ?? true
  }

  // MARK: sync down

  func syncDown(_ phone: Phone) throws -> Bool {
    guard phone.isInstalled, let user = org.user(named: phone.username) else { return false }
    watch.look(.pipeline)
    for soup in Soup.all {
      let fields = ["Id", "LastModifiedDate"] + soup.fields(upserts: setup.visitKey == .external)
      let page = try org.query(
        "SELECT \(fields.joined(separator: ", ")) FROM \(soup.sobject) LIMIT 2000", as: user)
      let records = try (JSONValue(parsing: page.records).array ?? []).compactMap(\.object)
      try phone.fetch(
        records, into: soup, now: deviceNow(), node: book.newState(after: phone.state.node))
    }
    try passSecond()
    return true
  }

  /// A change in the same second as an app's own sync cannot be distinguished by its date.
  private func passSecond() throws { try org.moveClock(by: 2000) }

  // MARK: reverting

  /// Reverts the last change of a phone: the row is as before and clean; a new one is deleted.
  func revert(_ phone: Phone) throws -> Bool {
    guard phone.isInstalled, let id = book.lastChange(of: phone.number)?.row,
      let row = phone.state.rows[id], !row.changed.isEmpty
    else { return false }
    let node = book.newState(after: phone.state.node)
    book.reverted.formUnion(row.allChanges)
    try phone.settle(id, row.marker == nil ? row.before : nil, now: deviceNow(), node: node)
    return true
  }

  // MARK: shared external IDs

  func createSame(_ phone: Phone) throws -> Bool {
    let others = book.makers.values.filter { $0.phone != phone.number && $0.key != nil }
    guard setup.visitKey == .external, let key = others.max(by: { $0.state < $1.state })?.key,
      !book.makers.values.contains(where: { $0.phone == phone.number && $0.key == key })
    else { return false }
    return try create(phone, Soup.all[2], .boolean, key: key) != nil
  }

  /// The phone creates a visit that it already has, with the same external ID.
  func createOver(_ phone: Phone, _ pick: Int) throws -> Bool {
    guard setup.visitKey == .external, phone.isInstalled else { return false }
    let keys = try phone.elements("visits").filter {
      $0["Id"]?.string?.hasPrefix("local_") == false
    }.compactMap { $0["External_Id__c"]?.string }
    guard !keys.isEmpty else { return false }
    let key = keys[pick % keys.count]
    guard !book.makers.values.contains(where: { $0.phone == phone.number && $0.key == key }) else {
      return false
    }
    return try create(phone, Soup.all[2], .boolean, key: key) != nil
  }

  // MARK: details and addresses

  /// A contact of one of the accounts.
  func createDetail(_ phone: Phone, _ pick: Int) throws -> Bool {
    guard phone.isInstalled else { return false }
    let parents = try phone.elements("accounts").filter { !Self.isDeleted($0, phone) }
      .compactMap { $0["Id"]?.string }.filter { !$0.hasPrefix("local_") }
    guard !parents.isEmpty else { return false }
    return try create(phone, Soup.all[3], .boolean, parent: parents[pick % parents.count]) != nil
  }

  func editAddress(_ phone: Phone, _ pick: Int) throws -> Bool {
    guard phone.isInstalled else { return false }
    let elements = try phone.elements("accounts").filter { !Self.isDeleted($0, phone) }
    guard !elements.isEmpty else { return false }
    try change(phone, Soup.all[0], elements[pick % elements.count], Soup.compound, .boolean)
    return true
  }
}
