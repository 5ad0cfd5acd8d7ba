import Foundation
import Testing

/// The tables of `docs/conformance.md`: the SDKs' own cases and the tests that port them.
///
/// Two fixtures list the cases of the SDKs, with the reason if one is not ported. A test lists the
/// cases that it ports in `// SDK:` comments.
@Suite struct ConformanceTests {
  static let page = Page.root.appending(path: "docs/conformance.md")

  /// The cases of Mobile Sync that must be ported, regardless of the share.
  static let required = [22...23, 119...120, 133...135, 145...158, 197...205]

  static func rendered(_ store: ConformancePart, _ sync: ConformancePart) -> String {
    """
    # Conformance with the Mobile SDK

    The SDKs' own test cases, and the test of attache that holds each. The page is made from the
    `// SDK:` comments of the tests, and compared with them in every run of the tests;
    `UPDATE_CONFORMANCE=1 swift test --filter ConformanceTests` writes it anew. A case passes when its
    test does, and a page with a case that fails is not merged: CI runs all of them.

    | | cases | pass | not ported |
    |---|---|---|---|
    | [SmartStore](#smartstore) | \(store.rows.count) | \(store.ported.count) | \(store.others.count) |
    | [Mobile Sync](#mobile-sync) | \(sync.rows.count) | \(sync.ported.count) | \(sync.others.count) |

    ## SmartStore

    From `Tests/SmartStoreTests` and `Tests/BundlesTests`.

    \(store.portedTable)

    ### Not ported of SmartStore

    Beside these: speed and load tests, key-value stores, the inspector's and the SDK manager's own
    tests.

    \(store.othersTable)

    ## Mobile Sync

    From `Tests/MobileSyncTests`, `Tests/ReconciliationTests` and `Tests/PipelinesTests`. Where the
    SDK's test asks an org, ours asks the embedded one over HTTP. A case that the SDK runs for three
    targets, or a table of its parameters, is one test with arguments here. The cases hold for the library and for
    `attache sync`; a pipeline sends by the same engine, but for the rows of [differences.md](differences.md) that name
    it: so it does not make a clean parent anew (156).

    \(sync.portedTable)

    ### Not ported of Mobile Sync

    \(sync.others.isEmpty ? "None." : sync.othersTable)

    """
  }

  @Test func `every case of the SDKs is ported or has a reason, and the page says so`() throws {
    let (store, sync) = (try ConformancePart.smartStore(), try ConformancePart.mobileSync())
    #expect(store.problems == [])
    #expect(sync.problems == [])
    let page = Self.rendered(store, sync)
    if ProcessInfo.processInfo.environment["UPDATE_CONFORMANCE"] != nil {
      try page.write(to: Self.page, atomically: true, encoding: .utf8)
    }
    let committed = try String(contentsOf: Self.page, encoding: .utf8)
    #expect(committed == page, "run it with UPDATE_CONFORMANCE=1")
  }

  @Test func `nineteen of twenty cases are ported, and all about data loss`() throws {
    let sync = try ConformancePart.mobileSync()
    #expect(sync.rows.compactMap(\.item.row) == Array(1...237))
    let missing = sync.others.compactMap(\.item.row)
      .filter { row in Self.required.contains { $0.contains(row) } }
    #expect(sync.ported.count * 100 >= sync.rows.count * 95)
    #expect(missing == [])
  }
}
