import JSON
import Ledger
import LocalOrg
import Pipelines
import SmartStore
import Snapshots
import System

/// The scenario of the README, end to end, on its own local org: prime, pack, a day in the field,
/// ingest, reconcile, report, a second prime that fetches only the changes, and an operator's
/// decisions about the open edits.
///
/// Everything runs through the pipeline as in `attache run`. The demo checks itself: the reported
/// outcomes must match what was played.
package struct Demo {
  /// The directories of a demo.
  package struct Places: Sendable {
    /// The pipeline file; nil for the built-in one, which is written into `scratch`.
    package var pipelineFile: String?
    /// The data directory, `snapshots/`.
    package var snapshots: String
    /// The directory of the org and the devices.
    ///
    /// It is emptied first, if a demo created it.
    package var scratch: String

    package init(pipelineFile: String? = nil, snapshots: String, scratch: String) {
      (self.pipelineFile, self.snapshots, self.scratch) = (pipelineFile, snapshots, scratch)
    }

    /// Returns the data directory, which is emptied before a demo.
    func data(of pipeline: String) -> MarkedDirectory {
      MarkedDirectory(snapshots + "/" + pipeline, maker: Self.maker)
    }

    private static let maker = "attache demo"

    /// Empties the scratch directory, after every check that could refuse the demo, so that a
    /// refused demo changes nothing.
    ///
    /// Returns the locks that keep both directories from another demo.
    func prepare() throws -> [FileLock] {
      let scratch = MarkedDirectory(scratch, maker: Self.maker)
      try scratch.check()
      let place = Files.resolvedIfThere(self.scratch)
      let name = try pipelineFile.map { try PipelineFile.read(path: $0, variables: nil).name }
      let data = data(of: name ?? DemoPipeline.name)
      try data.check()
      for other in [snapshots, data.path] + [pipelineFile].compactMap(\.self) {
        let other = Files.resolvedIfThere(other)
        // The contents of both directories would be removed.
        let isLost = Files.isWithin(other, place)
        let isHeld = other == Files.resolvedIfThere(data.path) && Files.isWithin(place, other)
        if isLost || isHeld { throw RehearsalError.overlapping(self.scratch, other) }
      }
      // A missing directory is created, but not before the other one is free.
      let places = [data, scratch].sorted { Files.exists($0.path) && !Files.exists($1.path) }
      let locks = try places.map { directory in
        do { return try directory.hold() } catch LockError.held {
          throw RehearsalError.running(directory.path)
        }
      }
      try scratch.empty()
      return locks
    }
  }

  let places: Places
  let say: (String) -> Void
  let report: @Sendable (RunEvent) -> Void
  var deviations: [String] = []
  /// Whether three edits stay open, for a user to try the commands on.
  var keepsOpen = false
  /// The technicians' phones, by user name.
  var devices: [String: Device] = [:]

  /// Plays the demo and explains each step.
  ///
  /// Throws `RehearsalError.unexpected` if the result is not as expected.
  ///
  /// With `keepsOpen` three edits stay open, and the running org is returned for the caller to stop.
  @discardableResult
  package static func run(
    _ places: Places, keepsOpen: Bool = false, report: @escaping @Sendable (RunEvent) -> Void,
    say: @escaping (String) -> Void
  ) async throws -> DemoOrg? {
    var demo = Demo(places: places, say: say, report: report)
    demo.keepsOpen = keepsOpen
    let locks = try places.prepare()
    let org = try DemoOrg(directory: places.scratch + "/org", locks: locks)
    do {
      try await demo.play(org)
      guard demo.deviations.isEmpty else { throw RehearsalError.unexpected(demo.deviations) }
    } catch {
      org.stop()
      throw error
    }
    if keepsOpen { return org }
    org.stop()
    return nil
  }

  private mutating func play(_ org: DemoOrg) async throws {
    let file =
      try places.pipelineFile
      ?? DemoPipeline.write(into: places.scratch + "/pipelines", org.variables)
    var pipeline = try PipelineFile.read(path: file, variables: org.variables)
    // The commands that are printed, here and in reports, work from any directory.
    pipeline.called += " --data " + ShellWord.quoted(places.snapshots)
    let data = DataDirectory(root: places.snapshots, name: pipeline.name)
    let made = places.data(of: pipeline.name)
    try made.empty()
    try made.name(org.org.organizationID)

    introduce(org)
    let night = try await firstNight(pipeline, org)
    let before = try org.stamps(of: Self.objects)
    let day = try fieldDay(night, data, org)
    try await homecoming(pipeline, day, org)
    try await secondNight(pipeline, org, before: before, night)
    try await morningAfter(pipeline, org)
    try await thirdNight(pipeline, org)
    tellWhatIsLeft(pipeline, data)
    if keepsOpen { try tellWhatToTry(pipeline, org) }
  }

  private static let objects = [
    "Account", "Contact", "WorkOrder", "ServiceAppointment", "Case", "Site_Visit__c", "Product2",
  ]

  // MARK: chapters

  private func introduce(_ org: DemoOrg) {
    chapter("An org")
    say("A small field-service company keeps its customers, contacts and work orders in an org.")
    say("This one runs on this machine, at \(org.server.url), and answers as Salesforce does.")
    say("Three technicians, ada, ben and cleo, work without a network.")
  }

  private func firstNight(_ pipeline: Pipeline, _ org: DemoOrg) async throws -> RunSummary {
    chapter("First run: prime and pack")
    say("Each technician's records are fetched once, as that technician, and written as the")
    say("database that the app on the phone opens: one file for iOS, one for Android.")
    let summary = try await run(pipeline, org, [.prime, .pack])
    for snapshot in summary.snapshots {
      let total = snapshot.soups.reduce(0) { $0 + $1.total }
      say(
        "  \(snapshot.username): \(CountText.of(total, "record")), "
          + "generation \(snapshot.generation)")
    }
    say(
      "  \(CountText.of(summary.bundles.count, "bundle")), "
        + "\(CountText.of(summary.requests, "request")) to the org")
    return summary
  }

  private mutating func fieldDay(
    _ night: RunSummary, _ data: DataDirectory, _ org: DemoOrg
  ) throws -> FieldDay {
    chapter("A day in the field")
    let now = org.org.now()
    for (name, platform) in [("ada", Platform.ios), ("ben", .android), ("cleo", .ios)] {
      let username = "\(name)@example.com"
      guard let snapshot = night.snapshots.first(where: { $0.username == username }) else {
        throw RehearsalError.noUser(username)
      }
      let bundle = try newestBundle(snapshot, platform, data)
      devices[username] = try Device.install(
        bundle, platform, into: places.scratch + "/devices/" + name, now: now)
    }
    guard let ada = devices["ada@example.com"], let ben = devices["ben@example.com"],
      let cleo = devices["cleo@example.com"]
    else { throw RehearsalError.noUser("ada, ben or cleo") }
    let day = try FieldDay.play(org: org, ada: ada, ben: ben, cleo: cleo, now: now)
    for scene in day.scenes { say("  \(scene.text)") }
    for (username, device) in devices.sorted(by: { $0.key < $1.key }) {
      let name = username.prefix { $0 != "@" }
      try device.handBack(to: data.inbox("inbox") + "/\(name).sqlite", now: now + 86_400_000)
    }
    say("In the evening each technician returns the database file: three files in the inbox.")
    return day
  }

  func newestBundle(
    _ snapshot: RunSummary.Snapshot, _ platform: Platform, _ data: DataDirectory
  ) throws -> String {
    let directory = data.generation(snapshot.generation, of: snapshot.id)
    guard let bundle = try BundleName.list(in: directory, platform).last else {
      throw RehearsalError.noStamp(directory)
    }
    return directory + "/" + bundle.text
  }

  private mutating func homecoming(
    _ pipeline: Pipeline, _ day: FieldDay, _ org: DemoOrg
  ) async throws {
    chapter("Back from the field: ingest and reconcile")
    say(
      "Each file is copied, opened as untrusted input, and verified by its stamp before it is read."
    )
    let ingested = try await run(pipeline, org, [.ingest])
    say(
      "  \(CountText.of(ingested.returns.ingested, "return")) with "
        + CountText.of(ingested.edits.found, "edit"))
    expect(
      ingested.edits.found == day.expected.values.reduce(0, +),
      CountText.of(ingested.edits.found, "edit", "was", "were") + " found")

    say("First a dry run, which sends nothing:")
    let writes = org.server.log.writes.count
    var options = RunOptions()
    options.stages = [.reconcile]
    options.isDryRun = true
    let plan = try await run(pipeline, org, options)
    for line in plan.plan { say("  " + line) }
    expect(org.server.log.writes.count == writes, "the dry run wrote to the org")

    say("Then the real one:")
    let result = try await run(pipeline, org, [.reconcile])
    tell(result, day)
    expect(plan.verdicts == result.verdicts, "the dry run forecast a different result")
    if let directory = result.report { say("  the report: \(directory)/report.html") }
  }

  private mutating func tell(_ result: RunSummary, _ day: FieldDay) {
    for verdict in Verdict.allCases {
      let (count, played) = (result.verdicts[verdict] ?? 0, day.expected[verdict] ?? 0)
      guard count > 0 || played > 0 else { continue }
      let mark = count == played ? "as expected" : "expected \(played)"
      say("  \(pad(count)) \(verdict.rawValue) (\(mark))")
      expect(
        count == played,
        CountText.of(count, "edit", "has", "have")
          + " the verdict \(verdict.rawValue), and \(played) were played")
    }
  }

  private mutating func secondNight(
    _ pipeline: Pipeline, _ org: DemoOrg, before: [String: String], _ first: RunSummary
  ) async throws {
    chapter("Second run: only the changes")
    let changes = try ExpectedChanges(org: org, objects: Self.objects, before: before)
    let held = try held(first, in: DataDirectory(root: places.snapshots, name: pipeline.name))
    let summary = try await run(pipeline, org, [.prime, .pack])
    for snapshot in summary.snapshots where snapshot.id != SnapshotID.global {
      let fetched = snapshot.soups.reduce(0) { $0 + $1.fetched }
      let removed = snapshot.soups.reduce(0) { $0 + $1.removed }
      let expected = try changes.count(
        for: snapshot.username, held: held[snapshot.id] ?? [])
      say(
        "  \(snapshot.username): \(CountText.of(fetched, "record")) fetched (new or changed in the org: "
          + "\(expected.fetched)), \(removed) removed (deleted or no longer assigned: "
          + "\(expected.removed))")
      expect(
        fetched == expected.fetched,
        "\(snapshot.username): \(CountText.of(fetched, "record", "was", "were")) fetched")
      expect(
        removed == expected.removed,
        "\(snapshot.username): \(CountText.of(removed, "record", "was", "were")) removed")
    }
    say("  \(CountText.of(summary.bundles.count, "new bundle")), which the phones can install:")
    say("  each contains the results of the returned edits, and each open edit with its reason")
    try expectIncluded(pipeline)
  }

  /// Returns the record IDs in each snapshot's stores.
  private func held(_ summary: RunSummary, in data: DataDirectory) throws -> [String: Set<String>] {
    var held: [String: Set<String>] = [:]
    for snapshot in summary.snapshots {
      held[snapshot.id] = try IssuedRecordReader(
        path: data.issued(snapshot.generation, of: snapshot.id)
      ).allIDs()
    }
    return held
  }

  private mutating func thirdNight(_ pipeline: Pipeline, _ org: DemoOrg) async throws {
    let writes = org.server.log.writes.count
    let summary = try await run(pipeline, org, Set(Stage.allCases))
    let changed = summary.snapshots.filter(\.changed).count
    say(
      "Run again without changes, the pipeline writes \(changed) stores, \(summary.bundles.count) bundles and"
    )
    say("nothing to the org.")
    expect(changed == 0 && summary.bundles.isEmpty, "a run without changes changed files")
    expect(org.server.log.writes.count == writes, "a run without changes wrote to the org")
  }

  // MARK: output

  func run(
    _ pipeline: Pipeline, _ org: DemoOrg, _ stages: Set<Stage>
  ) async throws -> RunSummary {
    var options = RunOptions()
    options.stages = stages
    return try await run(pipeline, org, options)
  }

  private func run(
    _ pipeline: Pipeline, _ org: DemoOrg, _ options: RunOptions
  ) async throws -> RunSummary {
    try await PipelineRun.execute(
      pipeline, root: places.snapshots, variables: org.variables, options: options, report: report)
  }

  mutating func expect(_ isTrue: Bool, _ deviation: String) {
    if !isTrue { deviations.append(deviation) }
  }

  func chapter(_ title: String) {
    say("")
    say(title)
    say(String(repeating: "-", count: title.count))
  }

  func pad(_ number: Int) -> String { number < 10 ? " \(number)" : "\(number)" }
}
