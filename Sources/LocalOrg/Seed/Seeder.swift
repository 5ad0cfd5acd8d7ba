import SQLite
import System

/// Generates a field service organization: accounts and related records, spread over the thirty
/// days before the org's current time and shared among technicians so that each sees a different
/// part.
struct Seeder {
  let store: OrgStore
  let options: SeedOptions

  /// A record to which others will refer.
  struct Placed {
    let id: String
    let owner: String
    let shared: [String]
    let created: Int64
    /// The account to which it belongs; for an account, its own ID.
    let account: String
    let place: Int
  }

  func run() throws {
    var maker = try SeedMaker(store: store, options: options)
    try maker.makeRecordTypes()
    try maker.makeProducts(50 * options.scale)
    let accounts = try maker.makeAccounts(200 * options.scale)
    let contacts = try maker.makeContacts(500 * options.scale, accounts)
    let cases = try maker.makeCases(300 * options.scale, contacts)
    let orders = try maker.makeWorkOrders(400 * options.scale, contacts, cases)
    try maker.makeAppointments(400 * options.scale, orders)
    try maker.makeSiteVisits(100 * options.scale, orders)
    try addBriefcases(maker.technicians.map(\.username))
  }

  /// Adds one briefcase for all technicians, and an overlapping one for every second technician.
  private func addBriefcases(_ technicians: [String]) throws {
    guard !technicians.isEmpty else { return }
    let appointments = BriefcaseRule(
      "ServiceAppointment", limit: 10_000, relationship: "ParentRecordId")
    _ = try store.addBriefcase(
      "Field_Service",
      rules: [
        BriefcaseRule(
          "Account", filter: "Type != 'Prospect'", orderBy: "Name", limit: 10_000,
          related: [
            BriefcaseRule("Contact", limit: 10_000, relationship: "AccountId"),
            BriefcaseRule(
              "WorkOrder", filter: "Status NOT IN ('Completed', 'Canceled')", limit: 10_000,
              relationship: "AccountId", related: [appointments]),
          ]),
        BriefcaseRule("Case", filter: "IsClosed = false", mine: true, limit: 10_000),
        BriefcaseRule(
          "Site_Visit__c", filter: "Visit_Date__c >= LAST_N_DAYS:90", orderBy: "Visit_Date__c",
          ascending: false, limit: 10_000),
      ], users: technicians, clientID: nil)
    _ = try store.addBriefcase(
      "Escalations",
      rules: [BriefcaseRule("Case", filter: "Priority = 'High' AND IsClosed = false", limit: 2000)],
      users: technicians.enumerated().filter { $0.offset % 2 == 0 }.map(\.element), clientID: nil)
  }
}
