import MobileSync
import Salesforce
import SmartStore
import TestSupport
import Testing

@Suite struct SyncContextTests {
  @Test(arguments: [
    (OrgError.Kind.authentication, true), (.certificate, true), (.cancelled, true),
    (.configuration, true), (.timeout, false), (.unreachable, false), (.refused("X"), false),
    (.notFound, false), (.permission, false), (.limit, false), (.tooLarge, false),
  ])
  func `a sync continues with a warning unless every other request would fail too`(
    _ kind: OrgError.Kind, _ ends: Bool
  ) throws {
    let directory = TemporaryDirectory("context")
    let context = SyncContext(
      SyncState(type: .syncUp, name: nil, target: [:], options: [:], soupName: "soup"),
      options: SyncOptions(), settings: SyncSettings(),
      store: try Store(creating: directory.file("store.db"), platform: .ios)
    ) { () async throws(OrgError) in
      throw OrgError(.configuration, message: "no org here", request: "login")
    }
    func giveUp(_ error: SyncError) -> Bool {
      do throws(SyncError) {
        try context.giveUp(on: error, "it could not be asked")
        return false
      } catch { return true }
    }
    let error = SyncError(OrgError(kind, message: "m", request: "GET /"))
    #expect(giveUp(error) == ends)
    #expect(context.report.warnings == (ends ? [] : ["it could not be asked: \(error.message)"]))
    // An error that does not come from the org ends the sync.
    #expect(giveUp(SyncError(.store, "the disk is full")))
  }

  private func fills(_ type: SyncType, _ target: SyncTarget, _ soup: String) -> Bool {
    SyncState(
      type: type, name: nil, target: target.json, options: [:], soupName: "accounts"
    ).fills(soup)
  }

  @Test func `a sync down fills the soups that its target names, a sync up none`() {
    #expect(fills(.syncDown, .soql(.accounts()), "accounts"))
    #expect(!fills(.syncDown, .soql(.accounts()), "contacts"))
    #expect(fills(.syncDown, .parentChildren(.accounts()), "contacts"))
    #expect(!fills(.syncUp, .syncUp(SyncUpTarget()), "accounts"))
  }

  @Test func `a custom sync down fills its definition's soup, an unreadable one any`() throws {
    let own = SyncState(
      type: .syncDown, name: nil,
      target: ["type": "custom", "iOSImpl": "Mine", "androidImpl": "com.example.Mine"],
      options: [:], soupName: "accounts")
    #expect(own.fills("accounts"))
    #expect(!own.fills("contacts"))
    let unread = SyncState(
      type: .syncDown, name: nil, target: ["type": "nonsense"], options: [:], soupName: "accounts")
    #expect(unread.fills("contacts"))
  }
}
