import Ledger
import Testing

@Suite struct ForeignOrgTests {
  @Test func `an org other than the one of the pipeline file is refused`() async throws {
    let world = try World {
      $0.replacing(#""org": {"#, with: #""org": { "id": "00D000000000009EAA","#)
    }
    await #expect(throws: LedgerError.self) { try await world.run() }
    #expect(world.server.log.writes.isEmpty)
  }
}
