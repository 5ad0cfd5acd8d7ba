import Foundation
import JSON
import SQLite
import SmartStore
import TestSupport
import Testing

/// Files with random damage, read as untrusted files.
///
/// Each gives a typed error or the right result, in time, and is never written.
@Suite struct FuzzTests {
  enum Region: String, CaseIterable {
    case header, schemaText, tree, overflow, metaTable, json, cut
  }

  static let seed = ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init) ?? 20_261_122
  /// The number of files per region; in CI there are two thousand files in total.
  static let files = CampaignSize.fuzz.count

  struct Sound {
    let test: TestStore
    let bytes: [UInt8]
    var pages: [Region: [Int]] = [:]
    /// The results of a sound file.
    var answers: [String] = []
  }

  func sound(_ platform: Platform) throws -> Sound {
    let test = try TestStore(platform)
    try test.store.registerSoup(
      "s",
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "n", type: .integer),
        IndexSpec(path: "t", type: .fullText), IndexSpec(path: "j", type: .json1),
        IndexSpec(path: "__local__", type: .string),
      ])
    try test.store.registerSoup("o", indexSpecs: [IndexSpec(path: "f", type: .floating)])
    let elements = (0..<30).map { index in
      let long = String(repeating: "long ", count: index % 10 == 0 ? 1800 : 12)
      return "{\"Id\":\"a\(index)\",\"n\":\(index),\"t\":\"word\(index)\",\"x\":\"\(long)\","
        + "\"j\":\(index),\"__local__\":\(index % 7 == 0)}"
    }
    try test.store.upsert(elements, into: "s")
    try test.store.upsert([#"{"f":1.5}"#], into: "o")
    try test.store.close()
    var sound = Sound(test: test, bytes: try read(test.store.path))
    let connection = try Connection(test.store.path, mode: .readOnly)
    defer { connection.close() }
    let meta: Set<String> = [
      "soup_index_map", "soup_attrs", "long_operations_status", "sqlite_sequence", "soup_attrs_0",
      "soup_index_map_0",
    ]
    for row in try connection.all("SELECT pageno, pagetype, name FROM dbstat WHERE pageno > 1") {
      guard let page = row[0].integer, let type = row[1].text, let name = row[2].text else {
        continue
      }
      let region: Region = meta.contains(name) ? .metaTable : type == "overflow" ? .overflow : .tree
      sound.pages[region, default: []].append(Int(page) - 1)
    }
    sound.answers = try answers(test.store.path)
    return sound
  }

  /// All content that ingesting and querying read.
  func answers(_ path: String) throws -> [String] {
    let store = try Store(untrusted: path, heapLimitMiB: 64, deadlineSeconds: 5)
    var answers: [String] = []
    for soup in try store.soupNames() {
      try store.forEachElement(in: soup, paths: ["Id", "n"], .dirty) {
        answers.append($0.text(0) ?? "-")
      }
      try store.forEachElement(in: soup) { answers.append(try $0.value().text) }
      answers.append("\(try store.count(of: soup))")
    }
    if try store.hasSoup("s") {
      answers += try store.values(of: "Id", in: "s")
      for sql in [
        "select {s:_soup} from {s} where {s:j} > 3", "select count(*), sum({s:n}) from {s}",
        "select {s:t} from {s} where {s:Id} = 'a7'",
      ] { answers += try store.query(QuerySpec(smartSQL: sql, pageSize: 100)) }
      // The full-text module never runs on an untrusted file.
      let match = QuerySpec(soupName: "s", .match(path: "t", matchKey: "word7"))
      #expect(throws: StoreError.self) { try store.query(match) }
    }
    try store.close()
    return answers
  }

  func damage(_ sound: Sound, _ region: Region, _ random: inout SplitMix) -> [UInt8] {
    var bytes = sound.bytes
    var places: Range<Int>
    switch region {
    case .header: places = 0..<100
    case .schemaText: places = 108..<4016
    case .cut:
      bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      return bytes
    case .json:
      let quotes = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\"") }
      let place = quotes.randomElement(using: &random) ?? 0
      places = max(0, place - 3)..<min(bytes.count, place + 4)
    case .tree, .overflow, .metaTable:
      let page = sound.pages[region]?.randomElement(using: &random) ?? 1
      // Half of the time in the page's header, otherwise anywhere in it.
      let length = Bool.random(using: &random) ? 16 : 4016
      places = page * 4096..<page * 4096 + length
      if region == .metaTable, Bool.random(using: &random) {
        let used = (page * 4096..<page * 4096 + 4012).filter { bytes[$0] != 0 }
        let place = used.randomElement(using: &random) ?? page * 4096
        places = place..<place + 4
      }
    }
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let place = Int.random(in: places, using: &random)
      bytes[place] =
        Bool.random(using: &random)
        ? bytes[place] ^ (1 << UInt8.random(in: 0..<8, using: &random))
        : UInt8.random(in: 0...255, using: &random)
    }
    return bytes
  }

  @Test(arguments: Region.allCases)
  func `a damaged file is rejected or read, in time and without a write`(_ region: Region) throws {
    var random = SplitMix(state: Self.seed)
    let sounds = try Platform.allCases.map(sound)
    var (refused, right, other) = (0, 0, 0)
    var slowest = Duration.zero
    for number in 0..<Self.files {
      let sound = sounds[number % sounds.count]
      let path = sound.test.directory.file("fuzzed.sqlite")
      let bytes = damage(sound, region, &random)
      try Data(bytes).write(to: URL(filePath: path))
      let start = ContinuousClock.now
      do {
        if try answers(path) == sound.answers { right += 1 } else { other += 1 }
      } catch let error as StoreError {
        refused += 1
        #expect(!error.description.isEmpty)
      } catch let error as SQLiteError {
        refused += 1
        #expect(!error.explanation.isEmpty)
      } catch is JSONError { refused += 1 }
      let middle = ContinuousClock.now
      do throws(StoreError) {
        let found = try StoreCheck(deadlineSeconds: 5).violations(at: path)
        #expect(found.allSatisfy { !$0.description.isEmpty })
      } catch {}
      slowest = max(slowest, middle - start, .now - middle)
      #expect(
        try Data(contentsOf: URL(filePath: path)) == Data(bytes), "file \(number) was written")
      try FileManager.default.removeItem(atPath: path)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: sound.test.directory.path)
          == ["store.sqlite"])
    }
    print(
      "fuzz \(region.rawValue): seed \(Self.seed), \(Self.files) files, \(refused) refused, "
        + "\(right) answered as before, \(other) as what the bytes now say; slowest \(slowest)")
    // Reading and checking the whole file, each within its time limit.
    #expect(slowest < .seconds(5))
    #expect(refused > 0)
    // These regions have no values, so a file that is still a store returns the same values.
    if [.header, .schemaText].contains(region) { #expect(other == 0) }
  }
}
