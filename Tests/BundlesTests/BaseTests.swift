import Bundles
import Returns
import SmartStore
import System
import TestSupport
import Testing

@Suite struct BaseTests {
  let directory = TemporaryDirectory()

  private func write(_ count: Int) throws -> [IssuedRecord] {
    let writer = try IssuedRecordWriter(path: directory.file("bases/1/3.base"))
    var records: [IssuedRecord] = []
    for number in 0..<count {
      let soup = number < count / 2 ? "accounts" : "cases"
      let id = String(repeating: "0", count: 9 - "\(number)".count) + "\(number)"
      records.append(
        IssuedRecord(
          soup: soup, id: id, modified: "2024-01-31T12:34:56.000+0000",
          stamp: number % 3 == 0 ? nil : "stamp \(number)",
          lastModified: number % 2 == 0 ? nil : Int64(number),
          fields: Array("{\"Name\":\"\(number) é\"}".utf8)))
    }
    for record in records {
      try writer.append(
        soup: record.soup, id: record.id, modified: record.modified, stamp: record.stamp,
        lastModified: record.lastModified, fields: record.fields)
    }
    try writer.finish()
    return records
  }

  @Test func `records come back in their order, whole`() throws {
    let records = try write(5000)
    let reader = IssuedRecordReader(path: directory.file("bases/1/3.base"))
    var read: [IssuedRecord] = []
    try reader.forEach { read.append($0) }
    #expect(read == records)
    let wanted = ["000000000", "000002499", "000002500", "nothing"]
    let found = try reader.lookup(soup: "accounts", ids: wanted)
    #expect(found.keys.sorted() == ["000000000", "000002499"])
    #expect(found["000002499"] == records[2499])
    #expect(try reader.lookup(soup: "cases", ids: ["000004999"])["000004999"] == records[4999])
    #expect(try reader.lookup(soup: "zebras", ids: ["000004999"]).isEmpty)
    #expect(try reader.lookup(soup: "cases", ids: []).isEmpty)
  }

  @Test func `an empty base is a base`() throws {
    _ = try write(0)
    var count = 0
    try IssuedRecordReader(path: directory.file("bases/1/3.base")).forEach { _ in count += 1 }
    #expect(count == 0)
  }

  @Test func `records out of order or twice are refused, and nothing is left`() throws {
    do {
      let writer = try IssuedRecordWriter(path: directory.file("a.base"))
      func append(_ soup: String, _ id: String) throws {
        try writer.append(soup: soup, id: id, modified: nil, stamp: nil, fields: [])
      }
      try append("b", "2")
      for (soup, id) in [("b", "2"), ("b", "1"), ("a", "3")] {
        #expect(throws: BundleError.self) { try append(soup, id) }
      }
      try append("c", "1")
    }
    #expect(try Files.list(directory.path) == [])
  }

  @Test func `a base cut short is an error at every length`() throws {
    _ = try write(40)
    let path = directory.file("bases/1/3.base")
    let whole = try Files.read(path)
    for length in 0..<whole.count {
      try DurableFile.write(Array(whole[..<length]), to: path)
      #expect(throws: (any Error).self, "\(length) bytes") {
        try IssuedRecordReader(path: path).forEach { _ in }
      }
    }
  }

  @Test(arguments: Platform.allCases)
  func `a soup's fields are kept with the element's own bytes`(platform: Platform) throws {
    let issued = try Issued(platform)
    let store = try Store(opening: issued.storePath, readOnly: true)
    let writer = try IssuedRecordWriter(path: directory.file("a.base"))
    try writer.append(
      .init(soup: "accounts", fields: ["Name", "Amount", "Missing"]), of: store,
      stamps: { $0.hasSuffix("03AA") ? "s3" : nil })
    try writer.append(.init(soup: "no such soup", fields: ["Name"]), of: store)
    try writer.finish()
    try store.close()
    #expect(writer.count == 20)
    let id = "0010000000000003AA"
    let found = try IssuedRecordReader(path: directory.file("a.base")).lookup(
      soup: "accounts", ids: [id])
    let record = try #require(found[id])
    // A literal is kept as it is; text is what SmartStore stored.
    #expect(
      String(decoding: record.fields, as: UTF8.self) == #"{"Name":"Account é 3","Amount":1.50}"#)
    #expect(record.modified == "2024-01-31T12:34:13.000+0000")
    #expect(record.stamp == "s3")
    #expect(record.lastModified == Issued.now)
  }
}
