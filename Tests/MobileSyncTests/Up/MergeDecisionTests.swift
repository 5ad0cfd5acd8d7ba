import MobileSync
import Testing

@Suite struct MergeDecisionTests {
  private static let old = "2024-01-31T12:34:56.000+0000"
  private static let new = "2024-01-31T12:34:57.000+0000"

  private static let locals: [ModificationDate?] = [
    nil, ModificationDate(old), ModificationDate(new),
  ]
  private static let servers: [ServerState] = [
    .unknown, .deleted, .alive(nil), .alive(ModificationDate(old)), .alive(ModificationDate(new)),
  ]

  private func isNewer(
    _ operation: SyncOperation, _ local: ModificationDate?, _ server: ServerState
  ) -> Bool {
    if operation == .create { return true }
    var remote: String?
    if case .alive(let date?) = server { remote = date.text }
    if let local = local?.text, let remote { return local >= remote }
    return operation == .delete && server == .deleted || local == nil
  }

  @Test(arguments: MergeMode.allCases)
  func `every combination is decided as the SDK decides it`(_ mode: MergeMode) {
    for operation in SyncOperation.allCases {
      for local in Self.locals {
        for server in Self.servers {
          let decision = MergeDecision.decide(operation, local: local, server: server, mode: mode)
          let goes = mode == .overwrite || isNewer(operation, local, server)
          let expected: MergeDecision
          switch (operation, server) {
          case (.none, _): expected = .nothing
          case (.dropLocally, _): expected = .dropLocally
          case (.create, _): expected = .send
          case (.delete, .deleted): expected = .alreadyDeleted
          // The SDK sends it and the org responds with 404; only OVERWRITE recreates the record.
          case (.update, .deleted):
            expected = mode == .overwrite ? .recreate : .leave(.deletedOnServer)
          case (_, .alive(_?)): expected = goes ? .send : .leave(.changedOnServer)
          default: expected = goes ? .send : .leave(.serverUnknown)
          }
          #expect(decision == expected, "\(operation) \(String(describing: local)) \(server)")
        }
      }
    }
  }

  @Test func `equal times are equal in every format`() {
    let local = ModificationDate("2024-01-31T12:34:56.000Z")
    let server = ServerState.alive(ModificationDate("2024-01-31T13:34:56.000+0100"))
    #expect(
      MergeDecision.decide(.update, local: local, server: server, mode: .leaveIfChanged) == .send)
  }

  @Test func `an invalid date is compared as text`() {
    #expect(ModificationDate("b").isAtLeast(ModificationDate("a")))
    #expect(!ModificationDate("1").isAtLeast(ModificationDate(Self.old)))
  }
}
