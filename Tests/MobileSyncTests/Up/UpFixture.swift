import LocalOrg
import MobileSync
import SmartStore
import Testing

/// A kind of sync up on a platform, as in the SDK's three suites of sync ups.
struct UpCase: Sendable, CustomTestStringConvertible {
  var kind: SyncUpTarget.Kind
  var platform: Platform

  static let all = Platform.allCases.flatMap { platform in
    [SyncUpTarget.Kind.single, .batch, .collection].map { UpCase(kind: $0, platform: platform) }
  }
  static let kinds = all.filter { $0.platform == .ios }
  var testDescription: String { "\(kind.rawValue) on \(platform.rawValue)" }
}

extension ManagedStore {
  convenience init(
    _ up: UpCase, settings: SyncSettings = SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 0)
  ) async throws { try await self.init(up.platform, settings: settings) }

  func syncedAccounts(_ count: Int) async throws -> [String] {
    let ids = try org.org.transaction {
      try (0..<count).map {
        try org.make("Account", ["Name": .string("name \($0)"), "Description": "remote"])
      }
    }
    _ = try await manager.syncDown(target: .soql(.accounts(ids)), soupName: Self.accounts).finish()
    return ids
  }

  func editAccounts(_ ids: [String]) async throws {
    try await edit(ids) {
      $0["Name"] = .string("local \($0["Id"]?.string ?? "")")
      $0["Description"] = "local"
    }
  }

  @discardableResult func up(
    _ target: SyncUpTarget, _ mode: MergeMode = .overwrite,
    fields: [String]? = ["Name", "Description"], in soup: String = accounts
  ) async throws -> (state: SyncState, report: SyncReport, story: [String]) {
    let run = try await manager.syncUp(
      target: .syncUp(target), options: SyncOptions(fieldlist: fields, mergeMode: mode),
      soupName: soup)
    let story = await run.story
    return (await run.lastState, await run.report, story)
  }

  @discardableResult func up(
    _ kind: SyncUpTarget.Kind, _ mode: MergeMode = .overwrite,
    fields: [String]? = ["Name", "Description"]
  ) async throws -> (state: SyncState, report: SyncReport, story: [String]) {
    try await up(SyncUpTarget(kind: kind), mode, fields: fields)
  }

  /// Runs a sync up, and does something on the device while the org has one of its requests.
  @discardableResult func up(
    _ target: SyncUpTarget, holding match: FaultMatch, nth: Int = 1,
    fields: [String]? = ["Name", "Description"], _ meanwhile: () async throws -> Void
  ) async throws -> SyncRun {
    let gate = RequestGate()
    gate.close(org, match, nth: nth)
    let run = try await manager.syncUp(
      target: .syncUp(target), options: SyncOptions(fieldlist: fields), soupName: Self.accounts)
    await gate.reached()
    try await meanwhile()
    gate.open()
    _ = await run.story
    return run
  }

  /// The account's name in the org; nil if it is deleted.
  func serverName(_ id: String) throws -> String? { try server("Account", "Name", of: id)?.string }

  func serverDescription(_ id: String) throws -> String? {
    try server("Account", "Description", of: id)?.string
  }

  func accountCount() throws -> Int {
    try org.org.query("SELECT Id FROM Account", as: org.admin).totalSize
  }

  func ids(named names: [String]) async throws -> [String] {
    let elements = try await elements()
    return try names.map { name in
      try #require(elements.first { $0["Name"]?.string == name }?["Id"]?.string)
    }
  }

  /// The local flags of an element, as letters: l c u d.
  func flags(_ id: String) async throws -> String? {
    try await element(id).map { LocalState(element: $0, platform: platform).letters }
  }
}

extension LocalState {
  /// The flags that are set, as letters: l c u d.
  var letters: String {
    (isLocal ? "l" : "") + (isCreated ? "c" : "") + (isUpdated ? "u" : "") + (isDeleted ? "d" : "")
  }
}

extension SyncReport.Record.Outcome {
  var isFailed: Bool { failureCode != nil }
  var failureCode: String? { if case .failed(let code, _) = self { code } else { nil } }
  var isUnconfirmed: Bool { if case .unconfirmed = self { true } else { false } }
}

extension SyncReport {
  var outcomes: [String: Record.Outcome] {
    Dictionary(records.compactMap { r in r.id.map { ($0, r.outcome) } }, uniquingKeysWith: { $1 })
  }
}
