import SmartStore
import Snapshots
import TestSupport

struct IssuedStore {
  static let user = "005000000000001AAA"
  static let key = [UInt8](repeating: 7, count: 32)
  static let now: Int64 = 1_706_704_496_000
  let directory = TemporaryDirectory()
  let entry: StoreEntry
  var path: String { directory.file("store.db") }

  static func stamp(_ platform: Platform, generation: Int = 3, user: String = user) -> Provenance {
    Provenance(
      org: "00D000000000001EAA", user: user, pipeline: "field-service", generation: generation,
      platform: platform, key: key)
  }

  init(_ platform: Platform) throws {
    let path = directory.file("store.db")
    let store = try Store(creating: path, platform: platform)
    store.clock = { Self.now }
    try store.registerSoup(
      "accounts",
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "__local__", type: .string),
      ])
    for number in 0..<20 {
      let id = "00100000000000\(number < 10 ? "0" : "")\(number)AA"
      let text = """
        {"Id":"\(id)","Name":"Account \\u00e9 \(number)","Amount":1.50,"attributes":\
        {"type":"Account"},"LastModifiedDate":"2024-01-31T12:34:\(10 + number).000+0000",\
        "__local__":false}
        """
      try store.upsert([text], into: "accounts")
    }
    try Self.stamp(platform).write(into: store)
    try store.close()
    entry = try SnapshotDirectory.measure(
      path, scope: .user, storeName: "default", path: "stores/store.db",
      stamp: Self.stamp(platform), counts: ["accounts": 20])
  }
}
