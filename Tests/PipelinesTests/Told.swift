import JSON
import System
import TestSupport
import Testing

/// The content of all reports of a world, as a reader of all of them knows it.
struct Told {
  let reports: [(run: String, json: JSONValue)]

  /// Reads them.
  ///
  /// Reports that an `earlier` version has written are not validated against the schema.
  init(_ world: World, earlier: Set<String> = []) throws {
    let names = Files.isDirectory(world.data.reports) ? try Files.list(world.data.reports) : []
    func number(_ run: String) -> Int { run.split(separator: "-").last.flatMap { Int($0) } ?? 0 }
    reports = try names.sorted { number($0) < number($1) }.map {
      ($0, try JSONValue(parsing: try Files.read(world.data.report($0) + "/report.json")))
    }
    let schema = try JSONSchema(published: "report.schema.json")
    for report in reports where !earlier.contains(report.run) {
      #expect(schema.faults(report.json) == [], "\(report.run)")
    }
  }

  func news(_ run: String) -> [Int64: String] { verdicts(run, "records") }

  func open(_ run: String) -> [Int64: String] { verdicts(run, "stillOpen") }

  func report(_ run: String) -> JSONValue { reports.first { $0.run == run }?.json ?? .null }

  func states(_ run: String, _ list: String) -> [String] {
    (report(run)[list]?.array ?? []).compactMap {
      guard let state = $0["state"]?.string else { return nil }
      return state + ($0["new"]?.bool == true ? "" : ", as before")
    }
  }

  func times(_ edit: Int64) -> Int { reports.filter { news($0.run)[edit] != nil }.count }

  private func verdicts(_ run: String, _ list: String) -> [Int64: String] {
    (report(run)[list]?.array ?? []).reduce(into: [:]) {
      if let number = $1["number"]?.int { $0[number] = $1["verdict"]?.string }
    }
  }
}
