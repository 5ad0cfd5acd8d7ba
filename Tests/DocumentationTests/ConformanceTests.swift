import Foundation
import Testing

/// `docs/conformance.md`: how many of the SDKs' own test cases are ported, and which are not.
///
/// Two fixtures list the cases of the SDKs, with the reason for each case that is not ported. A test
/// names the cases that it ports in `// SDK:` comments.
@Suite struct ConformanceTests {
  static let page = Page.root.appending(path: "docs/conformance.md")
  /// The table of all cases and their tests, which is not kept in the repository.
  static let table = Page.root.appending(path: ".build/conformance.md")

  /// The cases of Mobile Sync that must be ported, regardless of the share.
  static let required = [22...23, 119...120, 133...135, 145...158, 197...205]

  static func rendered(_ store: ConformancePart, _ sync: ConformancePart) -> String {
    """
    # Conformance with the Mobile SDK

    The Mobile SDK has its own test cases. Each is ported to a test of attache, which CI runs, or is
    listed below with a reason.

    | | cases | ported | not ported |
    |---|---|---|---|
    | SmartStore | \(store.rows.count) | \(store.ported.count) | \(store.others.count) |
    | Mobile Sync | \(sync.rows.count) | \(sync.ported.count) | \(sync.others.count) |

    - A test names the cases that it ports in `// SDK:` comments.
    - Tests that need an org use the local org over HTTP. A case that the SDK runs for three targets,
      or for a table of parameters, is one test with arguments.
    - The cases of Mobile Sync hold for the library and for `attache sync`. Pipelines send with the
      same engine, except for the rows of [differences.md](differences.md) that name them. For
      example, a pipeline does not recreate a clean parent (case 156).
    - Speed and load tests, key-value stores, and the tests of the inspector and of the SDK manager
      are not counted.
    - A test generates this page. `ATTACHE_UPDATE_DOCS=1 swift test --filter ConformanceTests` writes
      it again, and the table of all cases with their tests into `.build/conformance.md`.

    ## Not ported: SmartStore

    \(store.othersTable)

    ## Not ported: Mobile Sync

    \(sync.others.isEmpty ? "None." : sync.othersTable)

    """
  }

  @Test func `every case of the SDKs is ported or has a reason, and the page says so`() throws {
    let (store, sync) = (try ConformancePart.smartStore(), try ConformancePart.mobileSync())
    #expect(store.problems == [])
    #expect(sync.problems == [])
    let page = Self.rendered(store, sync)
    if ProcessInfo.processInfo.environment["ATTACHE_UPDATE_DOCS"] != nil {
      try page.write(to: Self.page, atomically: true, encoding: .utf8)
      try "\(store.portedTable)\n\n\(sync.portedTable)\n"
        .write(to: Self.table, atomically: true, encoding: .utf8)
    }
    let committed = try String(contentsOf: Self.page, encoding: .utf8)
    #expect(committed == page, "ATTACHE_UPDATE_DOCS=1 swift test --filter ConformanceTests")
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
