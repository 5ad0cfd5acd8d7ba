import JSON
import Review
import System
import TestSupport
import Testing

@Suite(
  .serialized, .enabled(if: Browser.isThere, "there is no chromium: make deps-test installs it"))
struct ReviewPageTests {
  /// Ada has changed two fields of an account that another user changes too, and one field of
  /// another account.
  private func scene() async throws -> (DecisionScene, ids: [String]) {
    let scene = try DecisionScene()
    let device = try await scene.world.primed("ada")
    let ids = [try scene.account(device, 0), try scene.account(device, 1)]
    let now = scene.world.org.now()
    try device.edit(
      "accounts", id: ids[0], ["Phone": "+1 555 0111", "Description": "seen"], now: now)
    try device.edit("accounts", id: ids[1], ["Phone": "+1 555 0122"], now: now)
    try scene.office(ids[0], ["Phone": "+1 555 0199"])
    try scene.office(ids[1], ["Phone": "+1 555 0200"])
    try scene.world.handBack(device, as: "ada.sqlite")
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.conflict: 2])
    return (scene, ids)
  }

  private func serve(_ scene: DecisionScene) throws -> ReviewServer {
    try ReviewServer(
      scene.world.pipeline, root: scene.world.root, variables: scene.world.variables, by: "grace")
  }

  /// The page shows the values that it found in the org.
  private static let isFresh =
    "document.getElementById('freshness').textContent.startsWith('Org values read')"

  private static let hasRows = "document.querySelector('[role=option]')"

  private func open(
    _ scene: DecisionScene, _ look: Browser.Look = Browser.Look(), until condition: String = isFresh
  ) async throws -> (ReviewServer, Browser) {
    let (server, browser) = (try serve(scene), try Browser())
    try await browser.open(server.address, look)
    try await browser.wait(until: condition, seconds: 120)
    return (server, browser)
  }

  private func close(_ server: ReviewServer, _ browser: Browser) async throws {
    #expect(try await browser.errors() == [])
    await browser.close()
    await server.stop()
  }

  @Test func `conflicts are decided by keyboard, planned, and sent`() async throws {
    let (scene, ids) = try await scene()
    let (server, browser) = try await open(scene)
    #expect(try await browser.text("#count") == "2 open")
    let marked = try await browser.run(
      "[...document.querySelectorAll('mark')].map(m => m.textContent)")
    #expect(marked == ["11", "99"])
    // When the device read it, and when it was changed since.
    let times = try await browser.run(
      "[...document.querySelectorAll('#detail > p time')].map(t => t.dateTime.slice(-1))")
    #expect(times == ["Z", "Z", "Z"])
    let change = try await browser.text("#server-change")
    let admin = try scene.world.user("admin")
    let name = try #require(try scene.field("Name", of: admin.id, "User")?.string)
    #expect(change.hasPrefix("Changed in the org by \(name) "), "\(change)")
    // The first: the device's values. The second: the org's.
    try await browser.press("j")
    try await browser.press("s")
    try await browser.press("k")
    try await browser.press("d")
    #expect(try await browser.text("#chosen") == "2 edits decided.")
    try await browser.press("Enter")
    try await browser.wait(until: "document.getElementById('send')")
    let plan = try await browser.text("#dialog")
    #expect(plan.contains("2 edits, 1 write to the org") && !plan.contains("null"))
    #expect(try scene.field("Phone", of: ids[0]) == "+1 555 0199")
    try await browser.press("Enter")
    try await browser.wait(until: "document.getElementById('results')")
    #expect(try await browser.text("#dialog").contains("2 of 2 edits are resolved."))
    #expect(try scene.field("Phone", of: ids[0]) == "+1 555 0111")
    #expect(try scene.field("Phone", of: ids[1]) == "+1 555 0200")
    #expect(try await browser.text("#count") == "No open edits.")
    try await close(server, browser)
    try await scene.expectClosed()
  }

  @Test func `long values are shortened on the page and sent in full`() async throws {
    let scene = try DecisionScene()
    let device = try await scene.world.primed("ada")
    let id = try scene.account(device, 0)
    let text = String(repeating: "seven.", count: 4000)
    try device.edit(
      "accounts", id: id, ["Description": .string(text + "device")], now: scene.world.org.now())
    try scene.office(id, ["Description": .string(text + "office")])
    try scene.world.handBack(device, as: "ada.sqlite")
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.conflict: 1])
    let (server, browser) = try await open(scene)
    let shown = try await browser.text("#detail")
    #expect(shown.utf8.count < 12_000 && shown.contains("24,006 characters"))
    // They differ only after the part that is shown.
    #expect(try await browser.run("document.querySelectorAll('#detail mark').length") == 2)
    try await browser.press("d")
    try await browser.press("Enter")
    try await browser.wait(until: "document.getElementById('send')")
    #expect(try await browser.text("#dialog").utf8.count < 4_000)
    try await browser.press("Enter")
    try await browser.wait(until: "document.getElementById('results')")
    #expect(try scene.field("Description", of: id)?.string == text + "device")
    try await close(server, browser)
  }

  @Test func `each field has its own source, or a typed value`() async throws {
    let (scene, ids) = try await scene()
    let (server, browser) = try await open(scene)
    let place = try await browser.run(
      "[...document.querySelectorAll('tr[data-field]')].map(row => row.dataset.field)")
    #expect(place == ["Description", "Phone"])
    try await browser.click("#field-0-server")
    // Both sides changed the phone, and neither is chosen yet.
    #expect(try await browser.run("document.querySelectorAll('#detail input:checked').length") == 1)
    try await browser.click("#field-1-text")
    try await browser.type("+1 555 0177")
    try await browser.press("Tab")
    #expect(try await browser.text("#chosen") == "1 edit decided.")
    try await browser.click("#plan")
    try await browser.wait(until: "document.getElementById('send')")
    #expect(try await browser.text("#dialog").contains("update Phone: +1 555 0177 → updated"))
    try await browser.click("#send")
    try await browser.wait(until: "document.getElementById('results')")
    #expect(try scene.field("Phone", of: ids[0]) == "+1 555 0177")
    #expect(try scene.field("Description", of: ids[0]) != "seen")
    try await close(server, browser)
  }

  @Test func `filtered edits are decided at once and left to the next run`() async throws {
    let (scene, ids) = try await scene()
    let (server, browser) = try await open(scene)
    try await browser.press("/")
    try await browser.type(ids[1])
    #expect(try await browser.text("#count") == "1 of 2 shown")
    try await browser.click("[data-all=device]")
    #expect(try await browser.text("#chosen") == "1 edit decided.")
    try await browser.click("#plan")
    try await browser.wait(until: "document.getElementById('send')")
    try await browser.run(
      "[...document.querySelectorAll('dialog button')].find(b => b.textContent.includes('next run')).click()"
    )
    try await browser.wait(until: "document.querySelector('dialog').innerText.includes('waits')")
    #expect(try scene.states() == ["device pending"])
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: ids[1]) == "+1 555 0122")
    try await close(server, browser)
  }

  @Test(
    .enabled(if: Browser.hasAxe, "axe-core is missing: make deps-test fetches it"),
    arguments: Browser.Look.all)
  func `the page has no console error and no axe-core finding`(_ look: Browser.Look) async throws {
    let (scene, _) = try await scene()
    let (server, browser) = try await open(scene, look)
    try await browser.press("d")
    #expect(try await browser.violations() == [])
    if let place = ProcessEnvironment.variable("ATTACHE_PICTURES") {
      try await browser.screenshot(to: "\(place)/review-\(look.width)-\(look.isDark).png")
    }
    try await browser.press("Enter")
    try await browser.wait(until: "document.getElementById('send')")
    #expect(try await browser.violations() == [])
    if let place = ProcessEnvironment.variable("ATTACHE_PICTURES") {
      try await browser.screenshot(to: "\(place)/plan-\(look.width)-\(look.isDark).png")
    }
    // The page is not wider than its window.
    #expect(try await browser.run("document.documentElement.scrollWidth <= innerWidth") == true)
    try await close(server, browser)
  }

  @Test func `thousands of open edits are scrolled, found and decided like ten`() async throws {
    let (scene, _) = try await scene()
    let count = Int64(CampaignSize.rows.count)
    try scene.withLedger { ledger in
      try ledger.connection.transaction {
        try ledger.connection.run(
          """
          WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < \(count) + 7)
          INSERT INTO edit (id, return_id, lineage_id, store, soup, entry_id, created_ms,
            last_modified_ms, operation, sobject, record_id, modification_date, content, element,
            base, state, verdict)
          SELECT n.i, return_id, lineage_id, store, soup, 100000 + n.i, created_ms,
            last_modified_ms, operation, sobject, printf('001%012dAAA', n.i), modification_date, content,
            CAST(json_object('Name', 'Customer ' || n.i || ' Ltd') AS BLOB), base, state, verdict
          FROM edit, n WHERE edit.id = 1
          """)
        try ledger.connection.run(
          """
          INSERT INTO outcome (run_id, edit_id, verdict, detail)
          SELECT o.run_id, e.id, o.verdict, o.detail FROM outcome o, edit e
          WHERE o.edit_id = 1 AND e.id >= 10
          """)
      }
    }
    let (server, browser) = try await open(scene, until: Self.hasRows)
    #expect(try await browser.text("#count") == "\(count) open")
    try await browser.wait(until: "document.activeElement.id === 'list'")
    #expect(try await browser.run("document.querySelectorAll('[role=option]').length < 60") == true)
    try await browser.press("End")
    #expect(try await browser.text("[aria-selected=true] .name") == "Customer \(count + 7) Ltd")
    try await browser.press("/")
    try await browser.type("customer 7777 ltd")
    #expect(try await browser.text("#count") == "1 of \(count) shown")
    try await browser.click("[data-all=server]")
    #expect(try await browser.text("#chosen") == "1 edit decided.")
    try await close(server, browser)
    // A hundred thousand edits are examined with one look only.
    for look in count < 100_000 ? [Browser.Look.all[0]] : Browser.Look.all {
      try await examine(scene, look, "\(count)")
    }
  }

  /// Opens the page of a scene's open edits: no errors, no axe-core finding, not wider than its
  /// window.
  private func examine(_ scene: DecisionScene, _ look: Browser.Look, _ rows: String) async throws {
    let (server, browser) = try await open(scene, look, until: Self.hasRows)
    if Browser.hasAxe { #expect(try await browser.violations() == [], "\(look)") }
    #expect(try await browser.run("document.documentElement.scrollWidth <= innerWidth") == true)
    if let place = ProcessEnvironment.variable("ATTACHE_PICTURES") {
      try await browser.screenshot(to: "\(place)/rows-\(rows)-\(look.width)-\(look.isDark).png")
    }
    try await close(server, browser)
  }

  @Test(arguments: [true, false])
  func `a device conflict is shown with both edits' difference`(_ overlaps: Bool) async throws {
    let scene = try DecisionScene()
    let id = try await scene.deviceConflict(
      ada: ["Phone": "one"], ben: overlaps ? ["Phone": "two"] : ["Description": "two"])
    let (server, browser) = try await open(scene)
    let words = try await browser.text("#detail")
    #expect(
      words.contains(overlaps ? "They differ in Phone." : "No field overlaps: both can be sent."))
    try await browser.press("d")
    try await browser.press("j")
    try await browser.press(overlaps ? "s" : "d")
    try await browser.press("Enter")
    try await browser.wait(until: "document.getElementById('send')")
    try await browser.press("Enter")
    try await browser.wait(until: "document.getElementById('results')")
    let results = try await browser.text("#dialog")
    #expect(results.contains("2 of 2 edits are resolved."), "\(results)")
    #expect(try scene.field("Phone", of: id) == "one")
    if !overlaps { #expect(try scene.field("Description", of: id) == "two") }
    try await close(server, browser)
  }

  @Test func `an unconfirmed create is shown with its candidate records`() async throws {
    let scene = try DecisionScene {
      $0.replacing(#""unansweredWaitSeconds": 0"#, with: #""unansweredWaitSeconds": 900"#)
    }
    let device = try await scene.phone()
    let contact: JSONObject = ["LastName": "Lovelace", "Title": "Analyst"]
    try device.create(
      "contacts", type: "Contact", contact, localID: "local_1", now: scene.world.org.now())
    scene.world.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: false))
    try await scene.handBack(device, leaves: [.unconfirmed: 1])
    // Two records that she created by hand, each of which might be the one.
    let made = try (1...2).map { _ in
      try #require(scene.world.org.create("Contact", contact, as: try scene.world.user("ada")).id)
    }
    try scene.world.org.moveClock(by: 86_400_000)
    #expect(try await scene.night().verdicts == [.unconfirmed: 1])

    let (server, browser) = try await open(scene)
    // The org's values of each are shown with its ID.
    try await browser.wait(until: "document.querySelectorAll('#detail dl').length >= 2")
    let words = try await browser.text("#detail")
    #expect(words.contains("Which record is it?"))
    for id in made { #expect(words.contains("Use \(id)"), "\(words)") }
    #expect(
      words.split(separator: "Lovelace", omittingEmptySubsequences: false).count > 3, "\(words)")
    try await browser.click("#record-1")
    #expect(try await browser.text("#chosen") == "1 edit decided.")
    let chosen = try await browser.text("#record-1 code")
    try await browser.click("#plan")
    try await browser.wait(until: "document.getElementById('send')")
    try await browser.click("#send")
    try await browser.wait(until: "document.getElementById('results')")
    let edit = try #require(try scene.decisions.edits([1]).first)
    #expect(edit.verdict == .created && edit.recordID == chosen && made.contains(chosen))
    #expect(try scene.count("SELECT Id FROM Contact WHERE LastName = 'Lovelace'") == 2)
    try await close(server, browser)
  }
}
