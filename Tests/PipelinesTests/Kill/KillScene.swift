import Pipelines
import System
import TestSupport

struct KillScene: Sendable {
  let stage: Stage
  let name: String
  private let path: String

  /// One scene for each stage; two for prime (first time, changes), two for reconcile (one request
  /// at a time, several) and three for pack (plain, sealed stores, a sealed archive).
  static let all = Result { try make() }

  /// A new copy of the scene, with its own org on the same clock.
  func copy() throws -> World {
    let directory = TemporaryDirectory("kill")
    for part in ["org", "snapshots", "pipelines"] {
      try Tree.copy(path + "/" + part, to: directory.file(part))
    }
    return try World(directory, file: Self.file, change: { $0 })
  }

  // MARK: setup

  private static let file = World.repository + "/pipelines/demo.json"

  private static func make() throws -> [KillScene] {
    let directory = TemporaryDirectory.untilExit("scenes")
    let place = TemporaryDirectory("scene")
    try OrgTemplate.small.get().copy(to: place.file("org"))
    var scenes: [KillScene] = []
    func keep(_ stage: Stage, _ name: String) throws {
      let path = directory.file(name)
      try Files.makeDirectory(path)
      for part in ["org", "snapshots", "pipelines"] {
        try Tree.copy(place.file(part), to: path + "/" + part)
      }
      scenes.append(KillScene(stage: stage, name: name, path: path))
    }
    // With nothing to pack it creates the ledger, whose key must be the same in every copy.
    try act(place, .pack)
    try keep(.prime, "prime, the first time")
    try act(place, .prime)
    try keep(.pack, "pack")
    try keep(.pack, "pack, sealed")
    try seal(directory.file("pack, sealed/pipelines"))
    try keep(.pack, "pack, sealed archive")
    try seal(directory.file("pack, sealed archive/pipelines"), with: "archive")
    try act(place, .pack)
    try withWorld(place, playField)
    try keep(.ingest, "ingest")
    try act(place, .ingest)
    try keep(.reconcile, "reconcile")
    try keep(.reconcile, severalAtOnce)
    try rewrite(directory.file(severalAtOnce + "/pipelines")) {
      $0.replacingOccurrences(of: #""concurrency": 1,"#, with: #""concurrency": 4,"#)
    }
    try act(place, .reconcile)
    try keep(.prime, "prime, what changed")
    return scenes
  }

  /// The scene with several concurrent requests, whose dates have any order.
  static let severalAtOnce = "reconcile, several at once"
  var leavesDatesOut: Bool { name == Self.severalAtOnce }

  private static func rewrite(_ pipelines: String, _ change: (String) -> String) throws {
    let path = pipelines + "/" + Files.name(of: file)
    let text = String(decoding: try Files.read(path), as: UTF8.self)
    let changed = change(text)
    guard changed != text else { throw Failure(words: "there is nothing to change in \(path)") }
    try DurableFile.write(Array(changed.utf8), to: path)
  }

  private static func seal(_ pipelines: String, with method: String = "sqlcipher") throws {
    let secret = pipelines + "/passphrase"
    try DurableFile.write(Array(SealedBundlesTests.passphrase.utf8), to: secret)
    try rewrite(pipelines) {
      SealedBundlesTests.sealing($0, secret: #"{"file": "passphrase"}"#, with: method)
    }
  }

  private static func act(_ place: TemporaryDirectory, _ stage: Stage) throws {
    try withWorld(place) { world in
      let run = try ChildRun(stage, world)
      guard run.hasFinished else { throw Failure(words: "\(stage): \(run.story)") }
    }
  }

  /// A world for the duration of `body`: its org is closed when it is copied.
  private static func withWorld(
    _ place: TemporaryDirectory, _ body: (World) throws -> Void
  ) throws {
    let world = try World(place, file: file) { text in
      let names = #""list": ["ada@example.com", "ben@example.com"],"#
      return text.replacing(/"query": "SELECT[^\n]*/, with: names)
        .replacingOccurrences(of: #""atMost": 50"#, with: #""atMost": 2"#)
        .replacing(/"url": {[^\n]*},\n *"login"/) { match in
          // Only once, because a directory keeps the changed file.
          match.0.replacing("\"login\"", with: "\"concurrency\": 1, \"login\"")
        }
    }
    try body(world)
  }

  /// Two devices with edits of all kinds, one file that is not a store, and changes by other users.
  private static func playField(_ world: World) throws {
    let (ada, ben) = (try world.device("ada"), try world.device("ben", .android))
    var now = world.org.now()
    func tick() -> Int64 {
      now += 60_000
      return now
    }
    let accounts = try world.ids("accounts", on: ada)
    let contacts = try world.ids("contacts", on: ada)
    let bens = try world.ids("contacts", on: ben)
    guard accounts.count > 4, contacts.count > 2, bens.count > 2 else {
      throw Failure(words: "too few records")
    }
    try ada.edit("accounts", id: accounts[0], ["Phone": "+1 555 0171"], now: tick())
    try ada.edit("accounts", id: accounts[1], ["Phone": "+1 555 0172"], now: tick())
    try ada.delete("contacts", id: contacts[0], now: tick())
    try ada.create(
      "accounts", type: "Account", ["Name": "Harbour Crane"], localID: "local_1", now: tick())
    try ada.create(
      "contacts", type: "Contact", ["LastName": "Keel", "AccountId": "local_1"],
      localID: "local_2", now: tick())
    try ben.edit("contacts", id: bens[0], ["Title": "Foreman"], now: tick())
    try ben.edit(
      "contacts", id: bens[1], ["Title": .string(String(repeating: "x", count: 300))], now: tick())
    let order = try world.ids("workorders", on: ben)[0]
    try ben.edit("workorders", id: order, ["Status": "Completed"], now: tick())
    try world.handBack(ada, as: "ada.sqlite")
    try world.handBack(ben, as: "ben.db")
    try DurableFile.write(Array("no store".utf8), to: world.data.inbox("inbox") + "/note.txt")
    let admin = try world.user("admin")
    let changed = world.org.update("Account", id: accounts[1], ["Phone": "+1 555 0199"], as: admin)
    if let error = changed.errors.first { throw error }
    if let error = world.org.delete("WorkOrder", id: order, as: admin).errors.first { throw error }
  }

  struct Failure: Error, CustomStringConvertible {
    let words: String
    var description: String { words }
  }
}
