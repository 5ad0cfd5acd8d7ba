import JSON
import Ledger
import LocalOrg
import MobileSync
import Reconciliation
import Reports
import Salesforce
import TestSupport
import Testing

/// An org on a free port, a ledger, and devices that return edits of its records.
final class FieldDay {
  let directory = TemporaryDirectory("field-day")
  let org: LocalOrg.Org
  private(set) var server: OrgServer
  let state: LedgerDatabase
  let ada: OrgUser
  let ben: OrgUser
  let admin: OrgUser
  var options = {
    var options = ReconcileOptions()
    options.unansweredWaitSeconds = 0
    options.pause = { _ in }
    return options
  }()
  var rules: [ReconciledSync] = []
  var hasIntegration = true
  /// The records that the devices were issued in addition to the bases of their edits.
  var issued: Set<String> = []
  /// The records that they were issued only in soups that no test asks for.
  var issuedElsewhere: Set<String> = []
  /// Receives how many edits have verdicts.
  var progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  private var returns = 0
  private var entries: Int64 = 0
  static let store = StoreKey(scope: .user, storeName: "default")
  init(integrationProfile: String = "Integration") throws {
    org = try FieldDay.openOrg(integrationProfile, in: directory.file("org"))
    ada = try #require(org.user(named: "ada@example.com"))
    ben = try #require(org.user(named: "ben@example.com"))
    admin = try #require(org.user(named: "admin@example.com"))
    server = try OrgServer(org: org)
    state = try LedgerDatabase(path: directory.file("state.sqlite"))
    for user in [ada, ben] {
      try state.save(SnapshotRow(id: user.id, userID: user.id, username: user.username))
    }
    rules = [
      Self.rule("accounts", ["Name", "Phone", "Industry", "Description", "ParentId"]),
      Self.rule("contacts", ["LastName", "Email", "AccountId", "Department"]),
    ]
  }

  /// A copy of the org with its users, which is made once per process for each profile of the
  /// integration user.
  private static func openOrg(_ profile: String, in directory: String) throws -> LocalOrg.Org {
    let options = LocalOrg.Org.Options(clockStart: 1_770_000_000_000)
    try DirectoryTemplate.copy("field day, \(profile)", to: directory) { template in
      let org = try LocalOrg.Org(directory: template, options: options)
      for (first, last) in [("Ada", "Abel"), ("Ben", "Bloch")] {
        try org.addUser(
          first.lowercased() + "@example.com", firstName: first, lastName: last,
          profile: "Field Technician")
      }
      try org.addUser("attache@example.com", lastName: "Attache", profile: profile)
    }
    return try LocalOrg.Org(directory: directory, options: options)
  }

  /// A scenario with a single rule.
  convenience init(
    _ soup: String, _ fields: [String], mode: MergeMode = .leaveIfChanged,
    create: [String]? = nil, externalID: String? = nil
  ) throws {
    try self.init()
    rules = [Self.rule(soup, fields, mode: mode, create: create, externalID: externalID)]
  }

  static func rule(
    _ soup: String, _ fields: [String], mode: MergeMode = .leaveIfChanged,
    create: [String]? = nil, externalID: String? = nil
  ) -> ReconciledSync {
    let target = SyncUpTarget(createFieldlist: create, externalIdFieldName: externalID)
    let definition = SyncDefinition(
      syncName: "up-" + soup, syncType: .syncUp, soupName: soup, target: .syncUp(target),
      options: SyncOptions(fieldlist: fields + ["Id", "LastModifiedDate"], mergeMode: mode))
    let types = ["accounts": "account", "contacts": "contact", "visits": "site_visit__c"]
    let all = try? ReconciledSync.all(of: definition, in: store) { _ in
      Set([types[soup]].compactMap(\.self))
    }
    guard let rule = all?.first else { preconditionFailure("the definition is a sync up") }
    return rule
  }

  /// The sync up `up` of accounts with their contacts.
  static func family(
    _ relationship: RelationshipType, _ parentFields: [String], _ childFields: [String],
    externalID: String? = nil, mode: MergeMode = .leaveIfChanged, children soup: String = "contacts"
  ) throws -> [ReconciledSync] {
    var parent = FamilyMember(sobjectType: "Account", soupName: "accounts")
    var children = FamilyMember(sobjectType: "Contact", soupName: soup)
    (children.sobjectTypePlural, children.parentIdFieldName) = ("Contacts", "AccountId")
    (parent.externalIdFieldName, children.externalIdFieldName) = (externalID, externalID)
    var target = SyncUpTarget(
      kind: .parentChildren, createFieldlist: parentFields, updateFieldlist: parentFields)
    target.family = ParentChildrenFamily(
      parent: parent, children: children, relationshipType: relationship)
    target.childrenCreateFieldlist = childFields
    target.childrenUpdateFieldlist = childFields
    return try ReconciledSync.all(
      of: SyncDefinition(
        syncName: "up", syncType: .syncUp, soupName: "accounts", target: .syncUp(target),
        options: SyncOptions(fieldlist: parentFields, mergeMode: mode)), in: store
    ) { _ in [] }
  }

  @discardableResult func make(_ object: String, _ fields: JSONObject) throws -> String {
    let outcome = org.create(object, fields, as: admin)
    if let error = outcome.errors.first { throw error }
    let id = try #require(outcome.id)
    try org.share(id, with: "ada@example.com")
    try org.share(id, with: "ben@example.com")
    return id
  }

  func change(_ object: String, _ id: String, _ fields: JSONObject) throws {
    if let error = org.update(object, id: id, fields, as: admin).errors.first { throw error }
  }

  func record(_ object: String, _ id: String) throws -> JSONObject {
    try org.read(object, id: id, fields: nil, as: admin)
  }

  func count(_ soql: String) throws -> Int {
    try org.query(soql, as: admin, includeDeleted: false).totalSize
  }

  // MARK: devices

  /// A dirty row of a record as it is in the org now, with members changed on the device.
  func edited(
    _ soup: String, _ object: String, _ id: String, _ changes: JSONObject,
    deleted: Bool = false, hasBase: Bool = true
  ) throws -> Edit {
    var fields = try record(object, id)
    fields["attributes"] = ["type": .string(object)]
    let date = fields["LastModifiedDate"]?.string
    let base = MergeBase(modificationDate: date, fields: fields)
    for (name, value) in changes { fields[name] = value }
    fields["__local__"] = true
    fields["__locally_updated__"] = JSONValue(!deleted)
    fields["__locally_deleted__"] = JSONValue(deleted)
    entries += 1
    return Edit(
      row: RowKey(store: Self.store, soup: soup, soupEntryID: entries), created: 1,
      lastModified: 1000 + entries, element: JSONValue.object(fields).bytes,
      operation: EditOperation(isCreated: false, isDeleted: deleted), sobject: object,
      serverID: id, modificationDate: date, base: hasBase ? base : nil)
  }

  /// A record that both technicians may edit, and a dirty row of it.
  func made(
    _ object: String, _ fields: JSONObject, edited changes: JSONObject
  ) throws -> (id: String, Edit) {
    let id = try make(object, fields)
    return (id, try edited(object.lowercased() + "s", object, id, changes))
  }

  func created(_ soup: String, _ object: String, _ local: String, _ fields: JSONObject) -> Edit {
    var element = fields
    element["Id"] = .string(local)
    element["attributes"] = ["type": .string(object)]
    element["__local__"] = true
    element["__locally_created__"] = true
    entries += 1
    return Edit(
      row: RowKey(store: Self.store, soup: soup, soupEntryID: entries), created: 1000 + entries,
      lastModified: 1000 + entries, element: JSONValue.object(element).bytes,
      operation: .create, sobject: object, localID: local)
  }

  func account(_ local: String, _ fields: JSONObject) -> Edit {
    created("accounts", "Account", local, fields)
  }

  func contact(_ local: String, _ fields: JSONObject) -> Edit {
    created("contacts", "Contact", local, fields)
  }

  func edited(
    account id: String, _ changes: JSONObject, deleted: Bool = false, hasBase: Bool = true
  ) throws -> Edit {
    try edited("accounts", "Account", id, changes, deleted: deleted, hasBase: hasBase)
  }

  func edited(
    contact id: String, _ changes: JSONObject, deleted: Bool = false, hasBase: Bool = true
  ) throws -> Edit {
    try edited("contacts", "Contact", id, changes, deleted: deleted, hasBase: hasBase)
  }

  /// Decides about an edit.
  func decide(_ edit: Int64, _ decision: Decision) throws {
    try state.decide([PendingDecision(edit, decision)], by: "an operator")
  }

  /// Returns edits; an app without marks names no installation.
  ///
  /// `carriedBy` is the run that redelivered open edits in the store.
  @discardableResult func handBack(
    _ edits: [Edit], user: OrgUser? = nil, snapshot: String? = nil, install: String? = nil,
    handback: Int64? = nil, stamp: String? = nil, issued: Int64? = nil, witnesses: [CleanRow] = [],
    isMarked: Bool = true, carriedBy run: String? = nil
  ) throws -> IngestResult {
    returns += 1
    let user = user ?? ada
    var row = ReturnRow(
      sha256: "sha-\(returns)", sourceName: "return-\(returns).zip",
      stampID: stamp ?? "stamp-\(user.username)", snapshotID: snapshot ?? user.id, generation: 1,
      platform: "ios", install: isMarked ? install ?? "device of \(user.username)" : nil,
      handback: handback, arrived: Int64(returns), issued: issued,
      soupTotals: [
        SoupKey(store: Self.store, soup: "accounts"): 40,
        SoupKey(store: Self.store, soup: "contacts"): 40,
      ])
    if let run { row.marks[Self.store] = run }
    return try state.record(return: row, edits: edits, witnesses: witnesses)
  }

  // MARK: runs

  func reconciler(_ ledger: LedgerDatabase? = nil, presumed: SimulatedOrg? = nil) -> Reconciler {
    let url = server.url
    let server = server
    let hasIntegration = hasIntegration
    let (issued, all) = (issued, issued.union(issuedElsewhere))
    return Reconciler(
      state: ledger ?? state, options: options, syncUps: rules, presumed: presumed,
      issued: { _, asked in
        var found = IssuedIDs()
        found.anywhere = asked.anywhere.intersection(all)
        found.inSoup = asked.inSoup.mapValues { $0.intersection(issued) }
        return found
      },
      sessionFor: { request in
        let username: String
        switch request {
        case .user(let name, _): username = name
        case .integration:
          guard hasIntegration else { return nil }
          username = "attache@example.com"
        }
        let token = try server.token(for: username, app: "field-app")
        let org = try Salesforce.Org(
          url: url, credentials: .accessToken(token), apiVersion: "66.0", caFile: nil,
          concurrency: 4, pause: .none)
        return try await org.session()
      }, progress: progress)
  }

  @discardableResult func run() async throws -> ReconcileSummary {
    let run = try state.beginRun(pipeline: "field", now: org.now(), configHash: "c", host: "h")
    let summary = try await reconciler().run(run)
    try state.note(.finished(stage: "reconcile"), run: run.id)
    try state.note(.ended(exitStatus: 0, summary: "{}"), run: run.id)
    return summary
  }

  /// Ends the upload of a technician's bulk job, so that the org processes it.
  func close(job: String) async throws {
    let org = try Salesforce.Org(
      url: server.url,
      credentials: .accessToken(try server.token(for: ada.username, app: "field-app")),
      apiVersion: "66.0", caFile: nil, concurrency: 1, pause: .none)
    let body = Array(#"{"state":"UploadComplete"}"#.utf8)
    _ = try await org.session().send(
      OrgCall(.bulk, "PATCH", "/services/data/v66.0/jobs/ingest/\(job)", body: body))
  }

  /// Decides that an edit is retried, as `decide --retry` does; the result is whether the rule and
  /// the ledger permit it.
  func retries(_ edit: Int64) throws -> Bool {
    guard let found = try state.decidable(edit),
      DecisionRule.refusal(.retry, of: found.subject) == nil,
      found.refusal(of: .retry) == nil
    else { return false }
    try state.decide([PendingDecision(edit, .retry)], by: "an operator")
    return true
  }

  /// Returns edits, and runs; the result is the verdicts.
  func verdicts(
    _ edits: [Edit], user: OrgUser? = nil, snapshot: String? = nil, install: String? = nil,
    handback: Int64? = nil, stamp: String? = nil, issued: Int64? = nil,
    witnesses: [CleanRow] = [], isMarked: Bool = true
  ) async throws -> String {
    try handBack(
      edits, user: user, snapshot: snapshot, install: install, handback: handback, stamp: stamp,
      issued: issued, witnesses: witnesses, isMarked: isMarked)
    return verdicts(try await run())
  }

  /// The result of a dry run, on a copy of the ledger.
  func plan() async throws -> [PlannedOutcome] {
    let copy = directory.file("plan-\(UInt64.random(in: 0..<(.max))).sqlite")
    try state.connection.run("VACUUM INTO \(copy)")
    let ledger = try LedgerDatabase(path: copy)
    defer { ledger.close() }
    let run = try ledger.beginRun(pipeline: "field", now: org.now(), configHash: "c", host: "h")
    let presumed = SimulatedOrg()
    _ = try await reconciler(ledger, presumed: presumed).run(run)
    return try ledger.plannedEdits(run: run.id, presumed)
  }

  func verdicts(_ summary: ReconcileSummary) -> String {
    summary.verdicts.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
  }

  func details() throws -> [OutcomeDetail] {
    let run = try #require(try state.runs(limit: 1).first)
    return try ReportModel(state: state, run: run.id, called: "demo").edits.all().map(\.detail)
  }

  /// Finishes the requests in progress, and serves the org on another port.
  func restartServer() throws {
    server.stop()
    server = try OrgServer(org: org)
  }

  var writes: [String] { server.log.writes.map { "\($0.method) \($0.kind)" } }
}

extension [PlannedOutcome] {
  var counts: [Verdict: Int] { reduce(into: [:]) { $0[$1.verdict, default: 0] += 1 } }

  var writes: [SyncUpAction: Int] {
    reduce(into: [:]) { counts, edit in
      if let action = edit.action { counts[action, default: 0] += 1 }
    }
  }
}
