import TestSupport
import Testing

@Suite struct StoresReadElsewhereTests {
  @Test func `an independent reader accepts every store that a run makes`() async throws {
    let world = try await World.primed()
    let first = try world.stores()
    #expect(first.count == 8)
    #expect(try ForeignReader.violations(first) == [])

    // The second generation is built in other ways: copied, changed, with records removed.
    let device = try world.device("ada")
    let ids = try world.ids("accounts", on: device)
    let admin = try world.user("admin")
    #expect(world.org.update("Account", id: ids[0], ["Phone": "7"], as: admin).errors == [])
    #expect(world.org.delete("Account", id: ids[1], as: admin).errors == [])
    let product = world.org.create("Product2", ["Name": "Crank", "IsActive": true], as: admin)
    #expect(product.errors == [])
    try await world.run()
    let second = try world.stores()
    #expect(second.count > first.count)
    #expect(try ForeignReader.violations(second) == [])
  }
}
