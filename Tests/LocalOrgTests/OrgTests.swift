import Foundation
import JSON
import LocalOrg
import Synchronization
import TestSupport
import Testing

@Suite struct OrgTests {
  @Test func `many threads write and read, each call atomically`() throws {
    let sample = try SampleOrg()
    let (org, ada) = (sample.org, sample.ada)
    let failures = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 8) { worker in
      for turn in 0..<15 {
        let name = JSONValue.string("W\(worker)-\(turn)")
        let done: Void? = try? org.transaction {
          let account = org.create("Account", ["Name": name], as: ada)
          guard let id = account.id else { throw OrgError(code: "X", message: "") }
          let contact = org.create(
            "Contact", ["LastName": name, "AccountId": .string(id)], as: ada)
          if !contact.errors.isEmpty { throw OrgError(code: "X", message: "") }
        }
        let accounts = try? org.query("SELECT COUNT() FROM Account", as: ada).totalSize
        if done == nil || accounts == nil { failures.withLock { $0 += 1 } }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    for object in ["Account", "Contact"] {
      #expect(try org.query("SELECT COUNT() FROM \(object)", as: ada).totalSize == 120)
    }
    let lone = "SELECT COUNT() FROM Account WHERE Id NOT IN (SELECT AccountId FROM Contact)"
    #expect(try org.query(lone, as: ada).totalSize == 0)
    #expect(org.now() == SampleOrg.start + 240_000)
  }

  @Test func `a file truncated during a write opens with what was committed`() throws {
    let sample = try SampleOrg()
    try sample.make("Account", ["Name": "Kept"])
    let before = try sample.org.dump()
    let copy = TemporaryDirectory("copy")
    // A killed process leaves its write-ahead log, possibly with half a frame at its end.
    for name in ["org.sqlite", "org.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: sample.directory.file(name), toPath: copy.file(name))
    }
    let log = try #require(FileHandle(forWritingAtPath: copy.file("org.sqlite-wal")))
    try log.seekToEnd()
    try log.write(contentsOf: Data(repeating: 7, count: 3000))
    try log.close()
    let again = try Org(directory: copy.path, options: .init(clockStart: 5))
    #expect(try again.dump() == before)
    #expect(again.now() == sample.org.now())
    let made = again.create("Account", ["Name": "Next"], as: sample.admin)
    #expect(made == sample.org.create("Account", ["Name": "Next"], as: sample.admin))
  }

  @Test func `every reference of the catalog is valid, every name is unique`() throws {
    let objects = try SampleOrg().org.objects()
    let names = Set(objects.map(\.name))
    #expect(names.count == objects.count)
    #expect(Set(objects.map(\.keyPrefix)).count == objects.count)
    for object in objects {
      #expect(Set(object.fields.map { $0.name.lowercased() }).count == object.fields.count)
      #expect(object.fields.filter(\.nameField).count <= 1, "\(object.name)")
      let children = object.childRelationships.compactMap { $0.name?.lowercased() }
      #expect(Set(children).count == children.count, "\(object.name): \(children)")
      for field in object.fields where field.type == .reference {
        #expect(!field.referenceTo.isEmpty && names.isSuperset(of: field.referenceTo))
        #expect(field.relationshipName != nil, "\(object.name).\(field.name)")
      }
    }
  }
}
