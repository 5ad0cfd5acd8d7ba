import SQLite

/// The contacts of person accounts.
extension OrgStore {
  /// Whether a record is a person account or the contact of one.
  func isPerson(_ id: String, _ table: StoredObject) throws -> Bool {
    guard let place = table.place("IsPersonAccount") else { return false }
    return try row(table, id: id)?[place] == 1
  }

  /// Makes the contact of a new person account.
  func addContact(ofPerson id: String, by userID: String, at moment: Int64) throws {
    var values: [String: SQLiteValue] = ["AccountId": .text(id), "IsPersonAccount": 1]
    for (name, value) in try valuesOfContact(ofPerson: id) { values[name] = value }
    let contact = try insert("Contact", values, by: userID, at: moment)
    try change(id, by: userID, at: moment) { row, table in
      if let place = table.place("PersonContactId") { row[place] = .text(contact) }
    }
  }

  /// Gives the contact of a person account the account's values and date.
  func changeContact(ofPerson id: String, by userID: String, at moment: Int64) throws {
    let table = try table("Account")
    guard let place = table.place("PersonContactId"),
      let contact = try row(table, id: id)?[place].text
    else { return }
    let values = try valuesOfContact(ofPerson: id)
    try change(contact, by: userID, at: moment) { row, table in
      for (name, value) in values {
        if let place = table.place(name) { row[place] = value }
      }
    }
  }

  private func valuesOfContact(ofPerson id: String) throws -> [(String, SQLiteValue)] {
    let table = try table("Account")
    guard let row = try row(table, id: id) else { throw OrgError.notFound }
    return PersonAccounts.pairs.compactMap { pair in
      table.place(pair.account).map { (pair.contact, row[$0]) }
    }
  }
}
