import Returns
import SQLite
import System
import TestSupport
import Testing

@Suite struct MalformedStoreTests {
  let directory = TemporaryDirectory()

  /// Writes a store whose soup has interior pages, overflow pages and free pages, with a change of
  /// its bytes.
  private func tangled(_ change: (inout [UInt8], Pages) throws -> Void) throws -> String {
    let issued = try Issued(.ios)
    let connection = try Connection(issued.storePath)
    try connection.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      INSERT INTO TABLE_1 (id, soup, created, lastModified)
      SELECT i, json_object('Id', i, 'Text', printf('%.*c', CASE i WHEN 300 THEN 20000 ELSE 400 END, 'x')),
        1, 1 FROM n;
      DELETE FROM TABLE_1 WHERE id > 450
      """)
    let root = Int(
      try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'TABLE_1'") ?? 0)
    let other = Int(
      try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'TABLE_2'") ?? 0)
    connection.close()
    var bytes = try Files.read(issued.storePath)
    try change(&bytes, Pages(root: root, other: other))
    let path = directory.file("store.sqlite")
    try DurableFile.write(bytes, to: path)
    return path
  }

  /// The positions in the file; pages are counted from 1.
  struct Pages {
    let root: Int
    let other: Int

    static func offset(_ page: Int) -> Int { (page - 1) * 4096 }

    static func number(_ bytes: [UInt8], _ at: Int) -> Int {
      bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    static func set(_ bytes: inout [UInt8], _ at: Int, _ value: Int) {
      for place in 0..<4 { bytes[at + place] = UInt8(value >> (8 * (3 - place)) & 0xFF) }
    }
  }

  private func code(_ change: (inout [UInt8], Pages) throws -> Void) throws -> Refusal.Code? {
    let path = try tangled(change)
    let refusal = #expect(throws: Refusal.self) { _ = try Issued.validate(path, in: directory) }
    return refusal?.code
  }

  @Test func `the template of the malformed files is sound`() throws {
    let path = try tangled { bytes, pages in
      #expect(bytes[Pages.offset(pages.root)] == 5, "the root is an interior page")
      #expect(Pages.number(bytes, 32) > 0, "there are free pages")
    }
    #expect(try Issued.validate(path, in: directory).stores.count == 1)
  }

  @Test(arguments: ["its own root", "a page of another tree", "a page beyond the end"])
  func `a tree with a wrong page is rejected`(_ page: String) throws {
    #expect(
      try code { bytes, pages in
        let numbers = ["its own root": pages.root, "a page of another tree": pages.other]
        Pages.set(&bytes, Pages.offset(pages.root) + 8, numbers[page] ?? 0x7FFF_FFFE)
      } == .damaged)
  }

  @Test func `a cyclic list of free pages is rejected`() throws {
    #expect(
      try code { bytes, _ in
        let trunk = Pages.number(bytes, 32)
        Pages.set(&bytes, Pages.offset(trunk), trunk)
      } == .damaged)
  }

  @Test func `a free page that is in use is rejected`() throws {
    #expect(
      try code { bytes, pages in
        let trunk = Pages.number(bytes, 32)
        Pages.set(&bytes, Pages.offset(trunk) + 4, 1)
        Pages.set(&bytes, Pages.offset(trunk) + 8, pages.root)
      } == .damaged)
  }

  @Test func `a cyclic chain of overflow pages is rejected`() throws {
    #expect(
      try code { bytes, _ in
        // An overflow page starts with the next one's number, and the text of this chain is all x.
        let page = try #require(
          (2...(bytes.count / 4096)).first { page in
            let at = Pages.offset(page)
            return bytes[(at + 4)..<(at + 1000)].allSatisfy { $0 == UInt8(ascii: "x") }
              && Pages.number(bytes, at) > 1
          })
        Pages.set(&bytes, Pages.offset(page), page)
      } == .damaged)
  }

  @Test func `a table whose root belongs to another table is rejected`() throws {
    let issued = try Issued(.ios)
    let connection = try Connection(issued.storePath)
    try connection.execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET rootpage =
        (SELECT rootpage FROM sqlite_schema WHERE name = 'TABLE_2') WHERE name = 'TABLE_1'
      """)
    connection.close()
    let refusal = #expect(throws: Refusal.self) {
      _ = try Issued.validate(issued.storePath, in: directory)
    }
    #expect(refusal?.code == .damaged)
  }

  @Test func `soups whose rows name each other's tables are read by name, or rejected`() throws {
    let issued = try Issued(.ios)
    let connection = try Connection(issued.storePath)
    try connection.execute("UPDATE soup_attrs SET id = 9 WHERE soupName = 'accounts'")
    connection.close()
    let refusal = #expect(throws: Refusal.self) {
      _ = try Issued.validate(issued.storePath, in: directory)
    }
    #expect(refusal?.code == .notAStore || refusal?.code == .damaged)
  }
}
