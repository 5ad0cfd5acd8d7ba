import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

@Suite struct IssuedRecordTests {
  let directory = TemporaryDirectory()
  private var path: String { directory.file("issued/1/3.sqlite") }

  private func write(_ count: Int) throws -> [IssuedRecord] {
    let writer = try IssuedRecordWriter(path: path)
    let records = (0..<count).map { number in
      IssuedRecord(
        soup: number < count / 2 ? "accounts" : "cases",
        id: String(repeating: "0", count: 9 - "\(number)".count) + "\(number)",
        modified: number % 3 == 0 ? nil : "2024-01-31T12:34:56.000+0000",
        lastModified: number % 2 == 0 ? nil : Int64(number),
        fields: Array("{\"Name\":\"\(number) é\"}".utf8))
    }
    // In any order: a store has its rows in the order in which they arrived.
    for record in records.reversed() { try writer.append(record) }
    try writer.finish()
    #expect(writer.count == count)
    return records
  }

  @Test func `every record is found by its ID, complete`() throws {
    let records = try write(5003)
    let reader = try IssuedRecordReader(path: path)
    #expect(try reader.allIDs() == Set(records.map(\.id)))
    for record in records { #expect(try reader.records(id: record.id) == [record]) }
    let wanted = ["000000000", "000002499", "000002501", "nothing"]
    let found = try reader.lookup(soup: "accounts", ids: wanted)
    #expect(found.keys.sorted() == ["000000000", "000002499"])
    #expect(found["000002499"] == records[2499])
    #expect(try reader.lookup(soup: "zebras", ids: ["000004999"]).isEmpty)
    #expect(try reader.lookup(soup: "cases", ids: []).isEmpty)
    #expect(try Files.status(path).mode & 0o777 == 0o600)
    #expect(try Files.list(directory.file("issued/1")) == ["3.sqlite"])
  }

  @Test func `a record in two soups is found in both, and long ones are stored`() throws {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 21)
    let writer = try IssuedRecordWriter(path: path)
    for soup in ["a", "b"] {
      try writer.append(IssuedRecord(soup: soup, id: "1", modified: nil, fields: long))
    }
    try writer.finish()
    let found = try IssuedRecordReader(path: path).records(id: "1")
    #expect(Set(found.map(\.soup)) == ["a", "b"])
    #expect(found.allSatisfy { $0.fields == long })
  }

  @Test func `a generation that issued nothing has an empty file`() throws {
    _ = try write(0)
    #expect(try IssuedRecordReader(path: path).allIDs() == [])
  }

  @Test func `a duplicate ID in a soup is rejected, and no file is left`() throws {
    do {
      let writer = try IssuedRecordWriter(path: path)
      for soup in ["b", "a", "b"] {
        try writer.append(IssuedRecord(soup: soup, id: "1", modified: nil, fields: []))
      }
      let error = #expect(throws: SnapshotError.self) { try writer.finish() }
      #expect(error?.description.contains("two records with the same soup and ID") == true)
    }
    #expect(try Files.list(directory.file("issued/1")) == [])
  }

  @Test func `if IDs may repeat in a soup, the record with the later date is kept`() throws {
    let writer = try IssuedRecordWriter(path: path, repeats: true)
    for (soup, date) in [
      ("a", "2024-02-01"), ("b", "2024-01-01"), ("a", "2024-01-01"), ("b", "2024-02-01"),
      ("b", nil),
    ] { try writer.append(IssuedRecord(soup: soup, id: "1", modified: date, fields: [])) }
    try writer.finish()
    let found = try IssuedRecordReader(path: path).records(id: "1")
    #expect(found.map(\.soup).sorted() == ["a", "b"])
    #expect(found.map(\.modified) == ["2024-02-01", "2024-02-01"])
  }

  @Test func `an open file stays the same while a newer one replaces it`() throws {
    let records = try write(100)
    let reader = try IssuedRecordReader(path: path)
    _ = try write(10)
    #expect(try reader.records(id: records[99].id) == [records[99]])
    #expect(try IssuedRecordReader(path: path).records(id: records[99].id) == [])
  }

  /// The file's content for these records, by ID.
  private func read(_ records: [IssuedRecord]) throws -> [IssuedRecord] {
    let reader = try IssuedRecordReader(path: path)
    return try records.flatMap { try reader.records(id: $0.id) }
  }

  @Test func `a truncated file is damaged at every length`() throws {
    let records = try write(40)
    let whole = try Files.read(path)
    for length in stride(from: 0, to: whole.count, by: 499) + [whole.count - 1] {
      try DurableFile.write(Array(whole[..<length]), to: path)
      #expect(throws: SnapshotError.self, "\(length) bytes") { try read(records) }
    }
  }

  @Test func `a changed value is never accepted as issued`() throws {
    let records = try write(40)
    let whole = try Files.read(path)
    for (place, text) in [("{\"Name", "{\"Game"), ("2024-01-31", "2024-02-31")] {
      let start = try #require(whole.firstRange(of: Array(place.utf8)))
      var bytes = whole
      bytes.replaceSubrange(start, with: Array(text.utf8))
      try DurableFile.write(bytes, to: path)
      let error = #expect(throws: SnapshotError.self, "\(text)") { try read(records) }
      #expect(error?.isDamage == true)
    }
    try DurableFile.write(whole, to: path)
    #expect(try read(records) == records)
  }

  @Test func `another database is rejected`() throws {
    try Files.makeDirectory(directory.file("issued/1"))
    let other = try Connection(path, mode: .create)
    try other.execute("CREATE TABLE issued (id)")
    other.close()
    let error = #expect(throws: SnapshotError.self) { try IssuedRecordReader(path: path) }
    #expect(error?.isDamage == true)
  }

  @Test(arguments: Platform.allCases)
  func `a soup's fields are stored with the element's own bytes`(platform: Platform) throws {
    let issued = try IssuedStore(platform)
    let store = try Store(opening: issued.path, readOnly: true)
    let writer = try IssuedRecordWriter(path: path)
    try writer.append(
      .init(soup: "accounts", key: "default/accounts", fields: ["Name", "Amount", "Missing"]),
      of: store)
    try writer.append(.init(soup: "no such soup", fields: ["Name"]), of: store)
    try writer.finish()
    try store.close()
    #expect(writer.count == 20)
    let found = try IssuedRecordReader(path: path).records(id: "0010000000000003AA")
    let record = try #require(found.first)
    // A literal is kept unchanged; text is as SmartStore stored it.
    #expect(
      String(decoding: record.fields, as: UTF8.self) == #"{"Name":"Account é 3","Amount":1.50}"#)
    #expect(record.soup == "default/accounts")
    #expect(record.modified == "2024-01-31T12:34:13.000+0000")
    #expect(record.lastModified == IssuedStore.now)
  }

  /// The cost of the file in SQLite calls, which a prime pays.
  @Test func `thirty-two records are one statement`() throws {
    let writer = try IssuedRecordWriter(path: path)
    for number in 0..<3200 {
      try writer.append(
        IssuedRecord(soup: "a", id: "\(number)", modified: nil, fields: Array("{}".utf8)))
    }
    #expect(writer.statements == 101, "one for the soup, and a hundred batches")
  }
}

@Suite struct IssuedRenewalTests {
  let directory = TemporaryDirectory()
  private let fields = IssuedRecordWriter.SoupFields(
    soup: "accounts", key: "default/accounts", fields: ["Name", "Size"])
  private let others = IssuedRecordWriter.SoupFields(
    soup: "cases", key: "default/cases", fields: ["Name"])

  private func store() throws -> Store {
    let store = try Store(creating: directory.file("store.db"), platform: .ios)
    for soup in ["accounts", "cases"] {
      try store.registerSoup(soup, indexSpecs: [IndexSpec(path: "Id", type: .string)])
    }
    return store
  }

  private func element(_ id: Int, _ name: String) -> String {
    #"{"Id":"001\#(1000 + id)","Name":"\#(name)","Size":\#(id),"LastModifiedDate":"\#(name)"}"#
  }

  /// Every row of a file, by ID and soup.
  private func rows(_ path: String) throws -> [String] {
    let reader = try IssuedRecordReader(path: path)
    return try reader.allIDs().sorted().flatMap { id in
      try reader.records(id: id).sorted { $0.soup < $1.soup }.map {
        "\(id) \($0.soup) \($0.modified ?? "-") \($0.lastModified ?? 0) "
          + String(decoding: $0.fields, as: UTF8.self)
      }
    }
  }

  private func whole(_ store: Store) throws -> [String] {
    let path = directory.file("whole.sqlite")
    if Files.exists(path) { try Files.remove(path) }
    let writer = try IssuedRecordWriter(path: path)
    for choice in [fields, others] { try writer.append(choice, of: store) }
    try writer.finish()
    return try rows(path)
  }

  @Test(arguments: 0..<12) func `equals a new file after any change`(seed: UInt64) throws {
    var random = HistoryRandom(seed)
    let store = try store()
    store.clock = { 1000 }
    for soup in ["accounts", "cases"] {
      try store.upsert((0..<200).map { element($0, "first") }, into: soup)
    }
    var path = directory.file("0.sqlite")
    let writer = try IssuedRecordWriter(path: path)
    for choice in [fields, others] { try writer.append(choice, of: store) }
    try writer.finish()
    var renewed = 0
    for night in 1...8 {
      // Includes a clock that was set back or stands still.
      let now = random.below(8) == 0 ? 1000 : 1000 + Int64(night)
      store.clock = { now }
      for soup in ["accounts", "cases"] where random.chance(50) {
        for _ in 0..<random.below(12) {
          let id = "001\(1000 + random.below(220))"
          let held = try store.elements(in: soup, where: "Id", is: id)
          switch (held.isEmpty, random.below(3)) {
          case (false, 0): try store.deleteElements(in: soup, where: "Id", in: [id])
          case (false, _):
            var object = try #require(held.first?.object)
            object["Name"] = .string("run \(night)")
            object["Size"] = random.chance(50) ? nil : "\u{1}"
            _ = try store.upsert([.object(object)], into: soup)
          case (true, _):
            let number = try #require(Int(id.dropFirst(3))) - 1000
            try store.upsert([element(number, "run \(night)")], into: soup)
          }
        }
      }
      let next = directory.file("\(night).sqlite")
      let writer = try IssuedRecordWriter(path: next, renewing: path)
      let isWhole = try [fields, others].allSatisfy { try writer.renew($0, of: store, since: now) }
      let anew = try whole(store)
      if isWhole {
        try writer.finish()
        renewed += 1
        path = next
        #expect(try rows(next) == anew, "run \(night)")
      } else {
        path = directory.file("\(night)-whole.sqlite")
        try Files.rename(directory.file("whole.sqlite"), to: path)
      }
    }
    #expect(renewed > 0)
  }

  @Test func `is not updated if that is more work, or does not match the store`() throws {
    let store = try store()
    store.clock = { 1000 }
    try store.upsert((0..<100).map { element($0, "first") }, into: "accounts")
    let path = directory.file("0.sqlite")
    let writer = try IssuedRecordWriter(path: path)
    try writer.append(fields, of: store)
    try writer.finish()
    let next = directory.file("1.sqlite")
    func renews(since: Int64) throws -> Bool {
      try IssuedRecordWriter(path: next, renewing: path).renew(fields, of: store, since: since)
    }
    #expect(try !renews(since: 1000), "all rows were written")
    #expect(try renews(since: 1001))
    // Another row of the same record, which only a new file contains.
    store.clock = { 1001 }
    try store.upsert([element(7, "again")], into: "accounts")
    #expect(try !renews(since: 1001))
    // A soup that is not in the file.
    try store.upsert([element(1, "new")], into: "cases")
    #expect(
      try !IssuedRecordWriter(path: next, renewing: path).renew(others, of: store, since: 1001))
    #expect(try Files.list(directory.path).filter { $0.hasSuffix(".sqlite") } == ["0.sqlite"])
  }

  @Test func `an invalid or truncated file is damaged`() throws {
    let path = directory.file("0.sqlite")
    let writer = try IssuedRecordWriter(path: path)
    try writer.append(IssuedRecord(soup: "a", id: "1", modified: nil, fields: Array("{}".utf8)))
    try writer.finish()
    let bytes = try Files.read(path)
    for count in [0, 20, 4096, bytes.count - 1] {
      try Files.remove(path)
      try DurableFile.write(Array(bytes.prefix(count)), to: path)
      let error = #expect(throws: SnapshotError.self) {
        try IssuedRecordWriter(path: directory.file("1.sqlite"), renewing: path)
      }
      #expect(error?.isDamage == true, "\(count) bytes: \(error?.description ?? "")")
      #expect(try Files.list(directory.path) == ["0.sqlite"])
    }
  }
}

@Suite struct SystemModstampsTests {
  let directory = TemporaryDirectory()
  private var path: String { directory.file(SystemModstamps.fileName) }

  @Test func `the stamps of a generation are read back`() throws {
    let stamps: [String: [String: Int64]] = [
      "default/accounts": ["0011": 5, "0012": -7], "default/odd soup": ["1 2": 9],
    ]
    try SystemModstamps.write(stamps, in: directory.path)
    #expect(try SystemModstamps.read(in: directory.path) == stamps)
  }

  @Test func `a generation without stamps has no file`() throws {
    try SystemModstamps.write(["default/accounts": [:]], in: directory.path)
    #expect(try Files.list(directory.path) == [])
    #expect(try SystemModstamps.read(in: directory.path) == [:])
  }

  @Test func `a changed byte or a lost line is damage`() throws {
    try SystemModstamps.write(["s": ["0011": 5, "0012": 6]], in: directory.path)
    let whole = try Files.read(path)
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 1
      try DurableFile.write(bytes, to: path)
      let error = #expect(throws: SnapshotError.self) {
        try SystemModstamps.read(in: directory.path)
      }
      #expect(error?.isDamage == true)
      try DurableFile.write(Array(whole[..<place]), to: path)
      #expect(throws: SnapshotError.self) { try SystemModstamps.read(in: directory.path) }
    }
  }
}
