/// A part of `docs/conformance.md`: cases with the tests that port them, and cases without.
struct ConformancePart {
  struct Row {
    let item: ConformanceCase
    let ports: [ConformancePort]
    var isPorted: Bool { !ports.isEmpty && ports.allSatisfy(\.isEnabled) }
  }

  let rows: [Row]
  /// The inconsistencies between the comments and the fixture.
  let problems: [String]

  static func smartStore() throws -> ConformancePart {
    let ports = try ConformancePort.all(in: ["SmartStoreTests", "BundlesTests"])
    let cases = try ConformanceCase.smartStore()
    let known = Set(cases.map(\.name))
    let strange = ports.flatMap { port in
      port.names.filter { !known.contains($0.name) }.map { "\(port.file): no case \($0.name)" }
    }
    return ConformancePart(
      cases.map { item in
        Row(item: item, ports: ports.filter { $0.names.contains { $0.name == item.name } })
      }, strange)
  }

  static func mobileSync() throws -> ConformancePart {
    let folders = [
      "MobileSyncTests", "SalesforceTests", "ReconciliationTests", "PipelinesTests",
      "DocumentationTests",
    ]
    let ports = try ConformancePort.all(in: folders)
    let cases = try ConformanceCase.mobileSync()
    let known = Dictionary(cases.map { ($0.row ?? 0, [$0.name, $0.otherName]) }) { one, _ in one }
    var strange: [String] = []
    for port in ports {
      for named in port.names {
        guard let rows = named.rows else {
          strange.append("\(port.file): \(named.name) has no number")
          continue
        }
        if rows.contains(where: { known[$0] == nil })
          || rows.count == 1 && known[rows.lowerBound]?.contains(named.name) != true
        {
          strange.append("\(port.file): \(named.name) is not case \(rows)")
        }
      }
    }
    return ConformancePart(
      cases.map { item in
        Row(
          item: item,
          ports: ports.filter { port in
            port.names.contains { $0.rows?.contains(item.row ?? 0) ?? false }
          })
      }, strange)
  }

  private init(_ rows: [Row], _ strange: [String]) {
    self.rows = rows
    problems =
      strange
      + rows.compactMap { row in
        let name = (row.item.row.map { "\($0) " } ?? "") + row.item.name
        if row.ports.isEmpty, row.item.reason.isEmpty {
          return "\(name): neither a test nor a reason"
        }
        if !row.ports.isEmpty, !row.item.reason.isEmpty {
          return "\(name): both a test and a reason"
        }
        if !row.ports.allSatisfy(\.isEnabled) { return "\(name): its test is disabled" }
        return nil
      }
  }

  var ported: [Row] { rows.filter(\.isPorted) }
  var others: [Row] { rows.filter { !$0.isPorted } }

  var portedTable: String {
    table(["SDK's class", "case", "platform", "test"], ported) { row in
      [
        row.item.suite, "`\(row.item.name)`", row.item.platforms,
        row.ports.map(\.test).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
          .joined(separator: "; "),
      ]
    }
  }

  var othersTable: String {
    table(["SDK's class", "case", "platform", "why"], others) { row in
      [row.item.suite, "`\(row.item.name)`", row.item.platforms, row.item.reason]
    }
  }

  private func table(_ header: [String], _ rows: [Row], _ cells: (Row) -> [String]) -> String {
    let isNumbered = rows.contains { $0.item.row != nil }
    let lines = rows.map { row in (isNumbered ? ["\(row.item.row ?? 0)"] : []) + cells(row) }
    let head = (isNumbered ? ["#"] : []) + header
    return
      (["| " + head.joined(separator: " | ") + " |"] + ["|" + head.map { _ in "---|" }.joined()]
      + lines.map { "| " + $0.joined(separator: " | ") + " |" }).joined(separator: "\n")
  }
}
