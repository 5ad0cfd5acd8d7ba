import Pipelines
import Rehearsal
import SmartStore
import System
import Testing

/// Returns whose soups differ from the pipeline's: the message names who changed them, as far as
/// known.
@Suite struct AlteredSoupsTests {
  let world: World
  private static let all = Set(Stage.allCases)
  init() throws { world = try World() }

  /// Ada's phone with its bundle from before the pipeline changed.
  private func phone() async throws -> Device {
    _ = try await world.runAsWritten(Self.all)
    return try world.device("ada")
  }

  /// The warnings of a run that ingests the phone's store.
  private func told(_ phone: Device) async throws -> [String] {
    let id = try #require(try world.ids("accounts", on: phone).first)
    try world.handBack(phone, as: "ada.sqlite", edited: id, ["Phone": "device"])
    let run = try await world.runAsWritten(Self.all)
    #expect(run.verdicts == [.updated: 1])
    return run.warnings.filter { $0.contains("soup") }
  }

  /// Gives the pipeline's contacts another index, and adds a soup.
  private func change() async throws {
    try world.rewrite(
      #"{ "path": "LastName", "type": "string" },"#,
      #"{ "path": "LastName", "type": "string" }, { "path": "Title", "type": "string" },"#,
      in: "demo/userstore.json")
    try world.rewrite(
      #""soups": ["#,
      #""soups": [ { "soupName": "notes", "indexes": [ { "path": "Id", "type": "string" } ] },"#,
      in: "demo/userstore.json")
    _ = try await world.runAsWritten(Self.all)
  }

  private func alter(_ phone: Device, _ body: (Store) throws -> Void) throws {
    let store = try Store(opening: phone.storePath)
    try body(store)
    try store.close()
  }

  /// The phone's app changes the indexes of its contacts and removes its cases.
  private func alter(_ phone: Device) throws {
    try alter(phone) { store in
      let indexes = try store.indexSpecs(of: "contacts").filter { $0.path != "FirstName" }
      try store.alterSoup("contacts", indexSpecs: indexes, reIndexData: true)
      try store.removeSoup("cases")
    }
  }

  private static let ofTheApp = [
    "ada.sqlite: the app removed the soup \"cases\"",
    "ada.sqlite: the app changed the soup \"contacts\": its indexes are not those issued",
  ]

  @Test func `later changes of the pipeline are not reported as the app's`() async throws {
    let phone = try await phone()
    try await change()
    #expect(try await told(phone) == [])
  }

  @Test(arguments: [false, true])
  func `changes by the app are reported despite the pipeline's`(_ hasChanged: Bool) async throws {
    let phone = try await phone()
    if hasChanged { try await change() }
    try alter(phone)
    #expect(try await told(phone) == Self.ofTheApp)
  }

  @Test func `if the issued records are pruned, both possible causes are reported`() async throws {
    let phone = try await phone()
    let generation = world.data.generation(1, of: try world.user("ada").id)
    try await change()
    try Files.remove(generation + "/ios")
    #expect(
      try await told(phone) == [
        "ada.sqlite: the indexes of the soup \"contacts\" are not the pipeline's: the app changed them, "
          + "or the pipeline did later"
      ])
  }
}
