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

    The SDKs' own test cases, with the test of attache that ports each. The page is generated from the
    `// SDK:` comments of the tests, and every test run compares it with them. Update it with
    `UPDATE_CONFORMANCE=1 swift test --filter ConformanceTests`. A case passes if its test does. CI runs
    all of them, so a page with a failing case is not merged.

    | | cases | pass | not ported |
    |---|---|---|---|
    | [SmartStore](#smartstore) | \(store.rows.count) | \(store.ported.count) | \(store.others.count) |
    | [Mobile Sync](#mobile-sync) | \(sync.rows.count) | \(sync.ported.count) | \(sync.others.count) |

    ## SmartStore

    From `Tests/SmartStoreTests` and `Tests/BundlesTests`.

    \(store.portedTable)

    ### Not ported of SmartStore

    Also not ported: speed and load tests, key-value stores, the inspector's and the SDK manager's own
    tests.

    \(store.othersTable)

    ## Mobile Sync

    From `Tests/MobileSyncTests`, `Tests/ReconciliationTests` and `Tests/PipelinesTests`. Where the
    SDK's test uses an org, ours uses the local org over HTTP. A case that the SDK runs for three targets,
    or a table of its parameters, is one test with arguments here. The cases apply to the library and to
    `attache sync`. A pipeline sends with the same engine, except for the rows of [differences.md](differences.md)
    that name it. For example, it does not recreate a clean parent (156).

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
