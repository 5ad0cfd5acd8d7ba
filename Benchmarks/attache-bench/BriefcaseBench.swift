import LocalOrg
import System

/// Many users' first prime by briefcase, from an org with delayed answers, compared with the
/// minimum time of its requests.
struct BriefcaseBench {
  private let options: BenchOptions
  private let fleet: BenchFleet

  init(_ options: BenchOptions) {
    self.options = options
    fleet = Self.fleet(in: "\(options.directory)/briefcase")
  }

  /// The fleet in a directory.
  static func fleet(in directory: String) -> BenchFleet {
    BenchFleet(name: "briefcase", directory: directory)
  }

  func measure() throws -> BriefcaseReport {
    options.note("\(options.users) users, \(options.records) records in the briefcase of each")
    let org = try fleet.makeOrg(users: options.users, records: options.records)
    try org.addBriefcase(
      "Contacts", rules: [BriefcaseRule(ObjectShape.contact.object, limit: options.records)],
      users: (0..<options.users).map(BenchFleet.username))
    try fleet.write(store: BenchFleet.storeFile, syncs: Self.syncsFile)
    try fleet.write(members: #""platforms": ["ios", "android"]"#)
    var report = BriefcaseReport(options, concurrency: Self.concurrency)
    for _ in 0..<options.rounds {
      if Files.exists(fleet.root) { try Files.remove(fleet.root) }
      report.add(try play(org))
      report.load.note()
    }
    try Files.remove(fleet.directory)
    return report
  }

  /// The default of `org.concurrency`.
  static let concurrency = 4

  private func play(_ org: LocalOrg.Org) throws -> BriefcaseReport.Run {
    let (told, log) = try Self.play(org, fleet, options)
    let run = BriefcaseReport.Run(told, log: log.entries)
    options.note("  \(run.requests) requests: \(told.wall) ms, \(told.processor) ms of processor")
    return run
  }

  /// One run in a separate process, with the requests that it sent; the org answers in this one,
  /// after `options.latency`.
  static func play(
    _ org: LocalOrg.Org, _ fleet: BenchFleet, _ options: BenchOptions
  ) throws -> (told: Measurement, log: RequestLog) {
    let served = try fleet.serve(org)
    defer { served.server.stop() }
    served.server.faults.add(.any, nth: 1, times: .max, .delay(milliseconds: options.latency))
    let told = try Measurement(
      parsing: BenchChild.run(
        .assigned, ["--directory", fleet.directory], variables: served.variables,
        deadlineSeconds: 7200))
    guard told.records == options.users * options.records else {
      throw BenchFailure(
        "\(told.records) of \(options.users * options.records) records are in the stores")
    }
    return (told, served.server.log)
  }

  static var syncsFile: String {
    let fields = ObjectShape.contact.fields.map { "\"\($0)\"" }.joined(separator: ", ")
    return """
      {"syncs": [
        {"syncName": "down", "syncType": "syncDown", "soupName": "\(ObjectShape.contact.soup)",
         "target": {"type": "briefcase", "infos": [{"sobjectType": "\(ObjectShape.contact.object)",
           "soupName": "\(ObjectShape.contact.soup)", "fieldlist": [\(fields)]}]},
         "options": {"mergeMode": "OVERWRITE"}}]}
      """
  }
}
