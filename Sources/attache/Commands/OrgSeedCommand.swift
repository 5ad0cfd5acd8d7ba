import Arguments
import JSON
import LocalOrg
import System

/// `attache org seed`: creates deterministic data for the embedded org.
struct OrgSeedCommand: Command {
  static let name = "org seed"
  static let summary = "fill the embedded org with related records"
  static let discussion = """
    Creates accounts, contacts, cases, work orders, service appointments, products and site visits, dated in the \
    30 days before the org's clock. Technicians see different, overlapping sets of them, through briefcases. \
    The same scale and seed create the same records. A setup file describes what an \
    administrator sets up in an org in addition to records, such as \
    {"objects": {"Case": {"required": ["Subject"]}}}.
    """
  static let examples = [
    Note("attache org seed --data .org --scale 1", "a small org, as in the demo"),
    Note(
      "attache org seed --data .org --scale 0 --setup setup.json",
      "no more records, only what the file sets up"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .option("data", "DIR", "data directory of the org", completes: .directories, \.data),
      .option("scale", "N", "the scale; the number of records is proportional to it", \.scale),
      .option("seed", "N", "the seed of the random choices", \.seed),
      .option("clock", "START", "the clock of a deterministic org", \.clock),
      .option(
        "setup", "FILE", "the setup file, which replaces an earlier one",
        \.setup),
      .flag("json", "print the counts as JSON", \.json),
    ]
  }

  var data = Options.orgDirectory
  var scale = 1
  var seed = 1
  var clock: ClockStart?
  var setup: String?
  var json = false

  func validate() throws(UsageError) {
    if scale < (setup == nil ? 1 : 0) { throw UsageError("--scale must be at least 1") }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let rules = try setup.map { path in
      try OrgSetup(parsing: Files.read(context.existing(path), limit: 8 << 20), name: path)
    }
    let org = try Org(
      directory: context.directory(data),
      // Two deterministic orgs are equal; others have different IDs.
      options: .init(clockStart: clock?.milliseconds, hasOwnID: clock == nil))
    if scale > 0 {
      try org.seed(SeedOptions(scale: scale, seed: UInt64(bitPattern: Int64(seed))))
    }
    if let rules { try org.setUp(rules) }
    guard let admin = org.user(named: OrgUser.adminUsername) else { return .failed }
    var counts = JSONObject()
    for object in org.objects() {
      guard
        let page = try? org.query(
          "SELECT COUNT() FROM \(object.name)", as: admin, includeDeleted: false),
        page.totalSize > 0
      else { continue }
      counts[object.name] = .number(String(page.totalSize))
    }
    if json {
      context.print(.object(counts))
    } else {
      for (name, count) in counts { context.print("\(count.text)\t\(name)") }
    }
    return .done
  }
}
