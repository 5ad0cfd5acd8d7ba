import Ledger
import TestSupport
import Testing

struct ReturnHistoryTests {
  enum App: CaseIterable { case counts, names, silent }

  struct Handback {
    let device: Int
    let number: Int64
    let edits: [Int64: Edit]
    let dates: [Int64: Int64]
    let created: [Int64: Int64]
  }

  private static func lives(_ devices: Int, _ numbers: inout HistoryRandom) -> [Handback] {
    var clock: Int64 = 1000
    var handbacks: [Handback] = []
    for device in 0..<devices {
      var edits: [Int64: Edit] = [:]
      var nextEntry: Int64 = 101
      for number in 1...Int64.random(in: 1...4, using: &numbers) {
        for _ in 0..<Int.random(in: 0...3, using: &numbers) {
          clock += 1
          if Bool.random(using: &numbers) {
            let entry = Int64.random(in: 1...4, using: &numbers)
            edits[entry] = LedgerFixture.update(
              entry, id: "00100000000000\(entry)AAA", date: clock, name: "d\(device) at \(clock)")
          } else if Bool.random(using: &numbers) || nextEntry == 101 {
            edits[nextEntry] = LedgerFixture.create(
              nextEntry, local: "local_\(device)", created: clock, date: clock,
              name: "new d\(device) at \(clock)")
            nextEntry += 1
          } else if let old = edits[101] {
            edits[101] = LedgerFixture.create(
              101, local: "local_\(device)", created: old.created, date: clock,
              name: "again d\(device) at \(clock)")
          }
        }
        handbacks.append(
          Handback(
            device: device, number: number, edits: edits,
            dates: edits.mapValues(\.lastModified), created: edits.mapValues(\.created)))
      }
    }
    return handbacks
  }

  @Test(arguments: App.allCases, 0..<40)
  func `no order of returns loses or duplicates an edit`(_ app: App, _ seed: Int) throws {
    var numbers = HistoryRandom(UInt64(seed) * 7 + 1)
    let fixture = try LedgerFixture()
    let devices = Int.random(in: 1...3, using: &numbers)
    let handbacks = Self.lives(devices, &numbers)
    var deliveries = handbacks.shuffled(using: &numbers)
    deliveries += handbacks.filter { _ in Bool.random(using: &numbers) }
    for handback in deliveries {
      try fixture.record(
        "d\(handback.device)-\(handback.number)",
        install: app == .silent ? nil : "device \(handback.device)",
        handback: app == .counts ? handback.number : nil, Array(handback.edits.values))
    }
    try expectNothingLost(fixture.state, handbacks)
    try expectOneRecordPerCreate(fixture.state, handbacks)
    try expectDevicesApart(fixture.state, app, devices)
  }

  /// The last state of every device stands, as it is or in an edit equal to it.
  private func expectNothingLost(_ state: LedgerDatabase, _ handbacks: [Handback]) throws {
    let known = try state.editStates()
    let byID = Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0) })
    for handback in handbacks {
      let isLast = !handbacks.contains {
        $0.device == handback.device && $0.number > handback.number
      }
      guard isLast else { continue }
      let source = "d\(handback.device)-\(handback.number).zip"
      for edit in known where edit.source == source {
        var standing = edit
        while standing.verdict == "superseded" {
          let next = try #require(standing.supersededBy.flatMap { byID[$0] })
          #expect(next.lastModified == standing.lastModified)
          standing = next
        }
        #expect(standing.state == "open")
        #expect(standing.lastModified == edit.lastModified)
      }
    }
  }

  private func expectOneRecordPerCreate(_ state: LedgerDatabase, _ handbacks: [Handback]) throws {
    var creates: Set<String> = []
    for handback in handbacks {
      for (entry, edit) in handback.edits where edit.operation == .create {
        creates.insert("\(handback.device) \(entry) \(edit.created)")
      }
    }
    #expect(try state.creationCount() == Int64(creates.count))
  }

  private func expectDevicesApart(_ state: LedgerDatabase, _ app: App, _ devices: Int) throws {
    var lineages: [String: Set<String>] = [:]
    for edit in try state.editStates() {
      lineages[String(edit.lineage), default: []].insert(String(edit.source.prefix(2)))
    }
    for (_, sources) in lineages { #expect(sources.count == 1) }
    if app != .silent { #expect(lineages.count <= devices) }
  }
}
