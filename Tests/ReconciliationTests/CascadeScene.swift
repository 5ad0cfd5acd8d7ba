import JSON
import Ledger
import Testing

/// An account that a device deletes, with a contact below it, and writes below the account.
struct CascadeScene {
  /// A write below the deleted record.
  enum Work: String, CaseIterable {
    case changesDetail, makesDetail, movesDetailThere, movesDetailAway, changesDetailThatOthersMoved
    case changesDetailOfDetail, makesDetailOfDetail, changesDetailByExternalID
  }

  let day: FieldDay
  let account: String
  let contact: String
  /// An account that is not deleted.
  let other: String

  init() throws {
    day = try FieldDay()
    day.rules += [
      FieldDay.rule("tasks", ["Subject", "WhoId"]),
      FieldDay.rule(
        "keyed", ["LastName", "Department", "External_Id__c"], externalID: "External_Id__c"),
    ]
    account = try #require(day.org.create("Account", ["Name": "Mill"], as: day.ada).id)
    let fields: JSONObject = [
      "LastName": "Child", "AccountId": .string(account), "External_Id__c": "C-1",
    ]
    contact = try #require(day.org.create("Contact", fields, as: day.ada).id)
    for id in [account, contact] { try day.org.share(id, with: "ben@example.com") }
    other = try day.make("Account", ["Name": "Other"])
  }

  func deletion() throws -> Edit { try day.edited(account: account, [:], deleted: true) }

  func edit(_ work: Work) throws -> Edit {
    switch work {
    case .changesDetail: return try day.edited(contact: contact, ["Department": "1"])
    case .makesDetail:
      return day.contact("local_1", ["LastName": "New", "AccountId": .string(account)])
    case .movesDetailThere:
      let mover = try day.make("Contact", ["LastName": "Mover"])
      return try day.edited(contact: mover, ["AccountId": .string(account)])
    case .movesDetailAway:
      return try day.edited(contact: contact, ["AccountId": .string(other)])
    case .changesDetailThatOthersMoved:
      let moved = try day.make("Contact", ["LastName": "Moved"])
      let edit = try day.edited(contact: moved, ["Department": "1"])
      try day.change("Contact", moved, ["AccountId": .string(account)])
      return edit
    case .changesDetailOfDetail:
      let task = try day.make("Task", ["Subject": "Call", "WhoId": .string(contact)])
      return try day.edited("tasks", "Task", task, ["Subject": "Write"])
    case .makesDetailOfDetail:
      return day.created(
        "tasks", "Task", "local_1", ["Subject": "Call", "WhoId": .string(contact)])
    case .changesDetailByExternalID:
      return day.created(
        "keyed", "Contact", "local_1",
        ["LastName": "Child", "Department": "1", "External_Id__c": "C-1"])
    }
  }
}
