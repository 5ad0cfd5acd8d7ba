import JSON
import Ledger
import LocalOrg
import SmartStore
import System

/// A day in the field: the offline edits of three technicians, and the changes of other users in
/// the org.
///
/// Each scene is played once, and lists the verdicts that it must get.
package struct FieldDay: Sendable {
  /// One scene of the story.
  package struct Scene: Sendable {
    /// The text: who does what.
    package let text: String
    /// The expected verdict of each edit in it.
    package let verdicts: [Verdict]
  }

  /// The scenes in order.
  package private(set) var scenes: [Scene] = []
  /// The expected number of edits by verdict.
  package var expected: [Verdict: Int] {
    scenes.flatMap(\.verdicts).reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  private let org: DemoOrg
  private let ada: Device
  private let ben: Device
  private let cleo: Device
  private var used: Set<String> = []
  private var minute: Int64

  /// Plays the day on three devices that have just installed their bundles.
  package static func play(
    org: DemoOrg, ada: Device, ben: Device, cleo: Device, now: Int64
  ) throws -> FieldDay {
    var day = FieldDay(org: org, ada: ada, ben: ben, cleo: cleo, minute: now)
    try day.adasMorning()
    try day.bensAfternoon()
    try day.cleosTrip()
    try day.twoAtOnce()
    return day
  }

  private init(org: DemoOrg, ada: Device, ben: Device, cleo: Device, minute: Int64) {
    (self.org, self.ada, self.ben, self.cleo) = (org, ada, ben, cleo)
    self.minute = minute
  }

  // MARK: scenes

  private mutating func adasMorning() throws {
    let first = try pick("accounts", on: ada)
    try ada.edit("accounts", id: first, ["Phone": "+1 555 0100"], now: tick())
    add("ada, offline, enters a customer's new phone number", .updated)

    let second = try pick("accounts", on: ada)
    try ada.edit("accounts", id: second, ["Description": "Ring twice."], now: tick())
    try org.change("Account", second, ["Phone": "+1 555 0199"])
    add("ada edits an account that another user changes in the org meanwhile", .conflict)

    try ada.create(
      "contacts", type: "Contact",
      ["FirstName": "Nora", "LastName": "Fielding", "AccountId": .string(first)],
      localID: "local_1001", now: tick())
    add("ada adds a contact she met", .created)

    let contact = try pick("contacts", on: ada)
    try ada.edit("contacts", id: contact, ["Email": "new@example.com"], now: tick())
    add("ada corrects an e-mail address, a field that the pipeline does not send", .notInFieldList)
  }

  private mutating func bensAfternoon() throws {
    let contact = try pick("contacts", on: ben, owned: "ben@example.com", withoutCases: true)
    try ben.delete("contacts", id: contact, now: tick())
    add("ben deletes a contact who has moved away", .deleted)

    let other = try pick("contacts", on: ben)
    let long = String(repeating: "Very ", count: 40) + "Senior Engineer"
    try ben.edit("contacts", id: other, ["Title": .string(long)], now: tick())
    add("ben enters a title that is too long for the org", .failed)

    let order = try pick("workorders", on: ben)
    try ben.edit("workorders", id: order, ["Status": "Completed"], now: tick())
    try org.delete("WorkOrder", order)
    add("ben completes a work order that another user has deleted", .deletedOnServer)
  }

  private mutating func cleosTrip() throws {
    let account = try pick("accounts", on: cleo)
    try cleo.edit("accounts", id: account, ["Phone": "+1 555 0142"], now: tick())
    try org.change("Account", account, ["Phone": "+1 555 0142"])
    add("cleo enters a number that another user enters too", .alreadyInOrg)

    try cleo.create(
      "accounts", type: "Account", ["Name": "Harbour Crane 7"], localID: "local_2001", now: tick())
    try cleo.create(
      "contacts", type: "Contact",
      ["FirstName": "Ivo", "LastName": "Keel", "AccountId": "local_2001"], localID: "local_2002",
      now: tick())
    add("cleo adds a customer, and a contact who works there", .created, .created)

    let lost = try pick("accounts", on: cleo, owned: "cleo@example.com")
    try cleo.edit("accounts", id: lost, ["Description": "Needs a new gate code."], now: tick())
    for name in ["ada@example.com", "ben@example.com"] { try org.org.unshare(lost, from: name) }
    try org.org.transfer(lost, to: OrgUser.adminUsername)
    try org.org.unshare(lost, from: "cleo@example.com")
    add("cleo edits an account that is taken from her the same day", .notVisible)
  }

  private mutating func twoAtOnce() throws {
    let shared = try ids("accounts", on: ada).intersection(ids("accounts", on: ben))
      .subtracting(used).sorted()
    guard let account = shared.first else {
      throw RehearsalError.noSuchRecord(soup: "accounts", id: "that ada and ben share")
    }
    used.insert(account)
    try ada.edit("accounts", id: account, ["Description": "Gate on the left."], now: tick())
    try ben.edit("accounts", id: account, ["Description": "Gate on the right."], now: tick())
    add("ada and ben both change one description", .deviceConflict, .deviceConflict)
  }

  // MARK: helpers

  private mutating func add(_ text: String, _ verdicts: Verdict...) {
    scenes.append(Scene(text: text, verdicts: verdicts))
  }

  /// Returns a distinct time for each edit.
  private mutating func tick() -> Int64 {
    minute += 60_000
    return minute
  }

  private func ids(_ soup: String, on device: Device) throws -> Set<String> {
    Set(try device.elements(soup).compactMap { $0["Id"]?.string })
  }

  /// Picks a record that no other scene uses: one owned by `owner`, if given, and one that the org
  /// allows to delete, that is, without cases.
  private mutating func pick(
    _ soup: String, on device: Device, owned owner: String? = nil, withoutCases: Bool = false
  ) throws -> String {
    let others = [ada, ben, cleo].filter { $0.storePath != device.storePath }
    var shared: Set<String> = []
    for other in others { shared.formUnion(try ids(soup, on: other)) }
    let candidates = try ids(soup, on: device).subtracting(used)
    // Prefer records that only this device has, so that scenes do not affect each other.
    let ordered = candidates.subtracting(shared).sorted() + candidates.intersection(shared).sorted()
    let wanted = try owner.map { try org.user($0).id }
    let admin = try org.user(OrgUser.adminUsername)
    for id in ordered {
      if let wanted {
        let object = soup == "contacts" ? "Contact" : "Account"
        let record = try org.org.read(object, id: id, fields: ["OwnerId"], as: admin)
        guard record["OwnerId"]?.string == wanted else { continue }
      }
      if withoutCases {
        let soql = "SELECT COUNT() FROM Case WHERE ContactId = '\(id)'"
        guard try org.org.query(soql, as: admin).totalSize == 0 else { continue }
      }
      used.insert(id)
      return id
    }
    throw RehearsalError.noSuchRecord(soup: soup, id: "for the story")
  }
}
