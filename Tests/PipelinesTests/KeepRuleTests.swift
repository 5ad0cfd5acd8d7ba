import Pipelines
import TestSupport
import Testing

@Suite struct KeepRuleTests {
  private static let day: Int64 = 86_400_000
  private static let now: Int64 = 1_000 * day

  private static func settings(_ random: inout HistoryRandom) throws -> KeepSettings {
    var pipeline = try World().pipeline
    pipeline.keep.generations = 1 + random.below(4)
    pipeline.keep.issuedRecordDays = 1 + random.below(60)
    pipeline.keep.returnedDays = 1 + random.below(60)
    pipeline.keep.runsDays = 60 + random.below(60)
    return pipeline.keep
  }

  private static func snapshot(_ random: inout HistoryRandom) -> KeepFacts.Snapshot {
    var snapshot = KeepFacts.Snapshot(id: "u", name: "ada", generations: [])
    for number in 1...(1 + random.below(8)) where random.chance(90) {
      var one = KeepFacts.Generation(number: number)
      if random.chance(60) { one.retired = now - Int64(random.below(90)) * day }
      if one.retired == nil || random.chance(20) { one.storeBytes = 10 }
      if random.chance(90) { one.issuedBytes = 5 }
      if random.chance(80) { one.goodUntil = now + Int64(random.below(80) - 40) * day }
      if random.chance(10) { one.openEdits = [Int64(random.below(9))] }
      if random.chance(30) { one.carried = [Int64(random.below(9))] }
      one.isLastReturned = random.chance(10)
      if random.chance(5) { one.damage = "it cannot be read" }
      snapshot.generations.append(one)
    }
    if random.chance(80) { snapshot.current = 1 + random.below(8) }
    return snapshot
  }

  @Test func `whatever a return can be compared with is kept, nothing else longer`() throws {
    var random = HistoryRandom(20_261_123)
    let some = try Self.settings(&random)
    var (gone, over) = (0, 0)
    for _ in 0..<3000 {
      var keep = some
      keep.generations = 1 + random.below(4)
      keep.issuedRecordDays = 1 + random.below(60)
      var facts = KeepFacts(now: Self.now)
      facts.openEdits = Set((0..<9).filter { _ in random.chance(30) })
      facts.snapshots = [Self.snapshot(&random)]
      let plan = KeepRule.plan(facts, keep)
      let comparable = KeepRule.comparable(facts, keep).generations["u"] ?? []
      let issued = Set(plan.going.filter { $0.kind == .issued }.compactMap { Int($0.id) })
      let records = Set(plan.going.filter { $0.kind == .record }.compactMap { Int($0.id) })
      let stores = Set(plan.going.filter { $0.kind == .generation }.compactMap { Int($0.id) })
      let newest = facts.snapshots[0].generations.suffix(keep.generations).map(\.number)
      for one in facts.snapshots[0].generations {
        let isServed = newest.contains(one.number) || one.number == facts.snapshots[0].current
        let isNeeded =
          one.goodUntil ?? 0 >= facts.now || !one.openEdits.isEmpty || one.isLastReturned
          || !one.carried.isDisjoint(with: facts.openEdits)
        let isOld =
          one.retired.map { facts.now - $0 >= Int64(keep.issuedRecordDays) * Self.day } ?? false
        let mayGo = !isServed && one.damage == nil
        #expect(stores.contains(one.number) == (mayGo && one.storeBytes != nil))
        let isDone = mayGo && isOld && !isNeeded
        #expect(issued.contains(one.number) == (isDone && one.issuedBytes != nil))
        #expect(comparable.contains(one.number) == !isDone)
        // The names of a generation's soups stay longer, and are not removed before its issued
        // records.
        let isLongOver =
          one.retired.map { facts.now - $0 >= Int64(keep.runsDays) * Self.day } ?? false
        #expect(records.contains(one.number) == (isDone && isLongOver && one.issuedBytes == nil))
        if records.contains(one.number) { over += 1 }
        if issued.contains(one.number) { gone += 1 }
        guard !isServed, isNeeded, one.retired != nil, one.damage == nil, one.issuedBytes != nil
        else { continue }
        let because = plan.staying.first { $0.kind == .issued && $0.id == "\(one.number)" }?.because
        #expect(because?.isEmpty == false, "what stays beyond its number says why")
      }
    }
    #expect(gone > 500 && over > 5)
  }

  @Test func `a return expires by age, unless an edit of it is open or unknown`() throws {
    var random = HistoryRandom(1)
    var keep = try Self.settings(&random)
    keep.returnedDays = 10
    func returned(_ name: String, days: Int64?, open: Set<Int64> = []) -> KeepFacts.File {
      KeepFacts.File(
        sha256: name, name: name, bytes: 1, arrived: days.map { Self.now - $0 * Self.day },
        openEdits: open)
    }
    var facts = KeepFacts(now: Self.now)
    facts.returned = [
      returned("young", days: 9), returned("old", days: 10),
      returned("open", days: 99, open: [7, 8]), returned("unknown", days: nil),
    ]
    let plan = KeepRule.plan(facts, keep)
    #expect(plan.going.map(\.id) == ["old"])
    #expect(plan.staying.map(\.id) == ["open", "unknown"])
    #expect(plan.staying[0].because == ["edit 7, which is open, came with it, and 1 more"])
  }

  @Test func `a refused return is removed only after it was ingested`() throws {
    var random = HistoryRandom(2)
    var keep = try Self.settings(&random)
    keep.returnedDays = 10
    var facts = KeepFacts(now: Self.now)
    facts.quarantined = [nil, Self.now - 9 * Self.day, Self.now - 10 * Self.day].enumerated().map {
      KeepFacts.File(sha256: "\($0)", name: "r", bytes: 1, arrived: $1)
    }
    let plan = KeepRule.plan(facts, keep)
    #expect(plan.going.map(\.id) == ["2"])
    #expect(plan.staying.map(\.id) == ["0"])
  }

  @Test func `reports expire by age, except the last and those with open edits`() throws {
    var random = HistoryRandom(3)
    var keep = try Self.settings(&random)
    keep.runsDays = 10
    var facts = KeepFacts(now: Self.now)
    facts.reports = [(50, []), (40, [3]), (20, []), (12, [])].enumerated().map {
      KeepFacts.Report(
        run: "r\($0)", time: Self.now - $1.0 * Self.day, bytes: 1, openEdits: Set($1.1))
    }
    facts.lastReport = "r3"
    let plan = KeepRule.plan(facts, keep)
    #expect(plan.going.map(\.id) == ["r0", "r2"])
    #expect(plan.staying.map(\.id) == ["r1", "r3"])
  }
}
