import JSON
import LocalOrg
import Pipelines
import SmartStore
import System
import TestSupport

/// The state of one history: the org, the pipeline's directory and three phones.
///
/// A run is killed within this process: at a request, or between two events, the pipeline's
/// directory is copied as it is on disk, all further requests are dropped, and the run continues
/// without effect. Later steps use the copy.
final class World {
  let history: History
  let org: Org
  let server: OrgServer
  let watch: OrgWatch
  let admin: OrgUser
  let pipeline: Pipeline
  let variables: [String: String]
  let phones: [Phone]
  var book = Book()
  let directory = MemoryDirectory("history")
  /// The directory of `snapshots/`; it changes after each kill.
  var root: String
  var runs: [RunResult] = []
  var tally = Tally()
  var trace: WriteTrace?
  /// Whether there may be a dry run before a run.
  var foretells = true
  /// When each bundle was packed, and how many runs there were by then.
  var bundles: [String: (time: Int64, runs: Int)] = [:]
  var judgedIssued: [String: Int] = [:]
  /// The start of the run in which a request was held that has not arrived.
  var heldSince: Int64?
  /// When the last run that reconciled without a fault began, in the org's time.
  var reconciledAt: Int64?
  /// Whether a run has decided its edit since, when the request could no longer arrive.
  var isHeldSettled = false
  var step = 0
  /// The time of the last return's file, in nanoseconds.
  private var arrival: Int64 = 0
  private var deviceTime: Int64 = HistoryOrg.clockStart
  private var made = 0
  private var roots = 0

  /// More than any field of a history accepts.
  static let mostCharacters = 33_000
  var setup: HistorySetup { history.setup }
  var data: DataDirectory { DataDirectory(root: root, name: HistoryPipeline.name) }
  init(_ history: History) throws {
    self.history = history
    org = try HistoryOrg.open(in: directory.file("org"))
    var options = OrgServer.Options()
    options.apps = [HistoryOrg.clientID: try HistoryOrg.key.get().certificate]
    options.writesLog = false
    options.dailyLimit = 1_000_000
    server = try OrgServer(org: org, options: options)
    (pipeline, variables) = try HistoryPipeline.make(
      history.setup, in: directory.file("pipelines"), url: server.url)
    root = directory.file("snapshots-0")
    guard let admin = org.user(named: "admin@example.com") else {
      throw Violation("the org has no administrator")
    }
    self.admin = admin
    watch = OrgWatch(org, admin: admin)
    let place = directory.path
    phones = history.setup.phones.enumerated().map { Phone($0, $1, directory: place) }
    watch.look(.beginning)
  }

  deinit { server.stop() }

  /// Runs a history to its end; throws a `Violation` if a rule is broken.
  ///
  /// `keeping` names a directory for the pipeline's data in that case.
  static func run(_ history: History, keeping: String? = nil) async throws -> Tally {
    let world = try World(history)
    defer { if let keeping { world.keep(in: keeping) } }
    try await world.play()
    return world.tally
  }

  func play() async throws {
    for kind in history.setup.kinds { tally.add(kind, to: "setups") }
    try await run(.all, nil)
    for phone in phones { try install(phone) }
    for (index, step) in history.steps.enumerated() {
      self.step = index + 1
      do { try await perform(step) } catch let violation as Violation {
        throw Violation("step \(index + 1): \(violation)")
      } catch { throw Violation("step \(index + 1): \(error)") }
    }
    step = history.steps.count + 1
    try await comeToRest()
  }

  private func keep(in directory: String) { try? Strike.copyTree(root, to: directory) }

  // MARK: time and values

  /// Dates a return's file after the one before it: files of one tick of the clock are read in the
  /// order of their names.
  func date(_ path: String) throws {
    arrival = max(arrival + 1, try Files.modificationTime(of: path))
    for file in [path, path + "-wal"] where Files.exists(file) {
      try Files.setModificationTime(of: file, nanoseconds: arrival)
    }
  }

  /// A time on a phone, later than all before.
  func deviceNow() -> Int64 {
    deviceTime = max(deviceTime, org.now()) + 1001
    return deviceTime
  }

  func token(_ author: String) -> String {
    made += 1
    return "\(author)-\(made)"
  }

  func nextRoot() -> String {
    roots += 1
    return directory.file("snapshots-\(roots)")
  }

  // MARK: steps

  private func perform(_ step: Step) async throws {
    var isDone = true
    switch step {
    case .edit(let phone, let soup, let pick, let field, let spelling, let isTooLong):
      isDone = try edit(phones[phone], Soup.all[soup], pick, field, spelling, isTooLong: isTooLong)
    case .editAgain(let phone, let field): isDone = try editAgain(phones[phone], field)
    case .editInOtherSoup(let phone, let field): isDone = try editInOtherSoup(phones[phone], field)
    case .create(let phone, let soup, let spelling):
      isDone = try create(phones[phone], Soup.all[soup], spelling) != nil
    case .createAndDelete(let phone, let soup, let spelling):
      if let row = try create(phones[phone], Soup.all[soup], spelling) {
        try delete(phones[phone], row, spelling)
      }
    case .delete(let phone, let soup, let pick, let spelling):
      isDone = try delete(phones[phone], Soup.all[soup], pick, spelling)
    case .backUp(let phone): try phones[phone].backUp()
    case .syncUp(let phone, let soup, let most): isDone = try syncUp(phones[phone], soup, most)
    case .syncDown(let phone): isDone = try syncDown(phones[phone])
    case .revert(let phone): isDone = try revert(phones[phone])
    case .createSame(let phone): isDone = try createSame(phones[phone])
    case .createOver(let phone, let pick): isDone = try createOver(phones[phone], pick)
    case .createDetail(let phone, let pick): isDone = try createDetail(phones[phone], pick)
    case .editAddress(let phone, let pick): isDone = try editAddress(phones[phone], pick)
    case .createFamily(let phone, let contacts):
      isDone = try createFamily(phones[phone], contacts)
    case .moveDetail(let phone, let pick, let parent):
      isDone = try moveDetail(phones[phone], pick, parent)
    case .deleteParent(let phone, let isFormer):
      isDone = try deleteParent(phones[phone], isFormer: isFormer)
    case .takeBack(let phone): isDone = try takeBack(phones[phone])
    case .decide(let back, let way, let wanted): isDone = try decide(back, way, wanted)
    case .orgKey(let phone, let change): isDone = try changeKey(phones[phone], change)
    case .fix(let phone, let pick, let field): isDone = try fix(phones[phone], pick, field)
    case .discard(let phone, let pick): isDone = try discard(phones[phone], pick)
    case .spoil(let phone): isDone = try editAgain(phones[phone], 0, isTooLong: true)
    case .restore(let phone, let pick):
      isDone = try phones[phone].restore(pick) { book.newState(after: $0) }
      if isDone { book.restored.insert(phones[phone].state.installation) }
    case .returnStore(let phone): isDone = try returnStore(phones[phone])
    case .returnAltering(let phone, let soup):
      isDone = try returnStore(phones[phone], altering: Soup.all[soup])
    case .returnAgain(let pick): isDone = try returnAgain(pick)
    case .install(let phone): isDone = try install(phones[phone])
    case .orgChange(let work): isDone = try changeOrg(work)
    case .clock(let seconds): try pass(seconds: seconds)
    case .wait(let seconds): try org.moveClock(by: Int64(seconds) * 1000)
    case .lateArrival:
      try await changeBeforeArrival()
      isDone = try deliver()
    case .run(let verb, let mishap): isDone = try await run(verb, mishap)
    }
    if isDone { for kind in step.kinds { tally.add(kind, to: "steps") } }
    if let failure = watch.failure { throw Violation("the org cannot be read: \(failure)") }
  }

  /// Time passes; no request is held for longer than the wait for its answer.
  private func pass(seconds: Int) throws {
    if seconds > 60 { _ = try deliver() }
    try org.moveClock(by: Int64(seconds) * 1000)
  }

  // MARK: changes on phones

  private func edit(
    _ phone: Phone, _ soup: Soup, _ pick: Int, _ field: Int, _ spelling: Step.Spelling,
    isTooLong: Bool
  ) throws -> Bool {
    guard phone.isInstalled else { return false }
    let elements = try phone.elements(soup.name).filter { !Self.isDeleted($0, phone) }
    guard !elements.isEmpty else { return false }
    try change(
      phone, soup, elements[pick % elements.count], soup.field(field), spelling,
      isTooLong: isTooLong)
    return true
  }

  private func editAgain(_ phone: Phone, _ field: Int, isTooLong: Bool = false) throws -> Bool {
    guard phone.isInstalled, let row = book.lastChange(of: phone.number)?.row,
      phone.state.known.contains(row), let soup = Soup.named(row.soup),
      let element = try phone.elements(row.soup).first(where: { Phone.entry($0) == row.entry }),
      !Self.isDeleted(element, phone)
    else { return false }
    try change(phone, soup, element, soup.field(field), .boolean, isTooLong: isTooLong)
    return true
  }

  /// Changes the record of the phone's last change in the other of accounts and calls.
  private func editInOtherSoup(_ phone: Phone, _ field: Int) throws -> Bool {
    guard phone.isInstalled, let last = book.lastChange(of: phone.number),
      let id = last.recordID, last.row.soup != "visits"
    else { return false }
    let soup = Soup.all[last.row.soup == "accounts" ? 1 : 0]
    let element = try phone.elements(soup.name).first { $0["Id"]?.string == id }
    guard let element, !Self.isDeleted(element, phone) else { return false }
    try change(phone, soup, element, soup.field(field), .boolean)
    return true
  }

  func change(
    _ phone: Phone, _ soup: Soup, _ element: JSONObject, _ field: String,
    _ spelling: Step.Spelling, isTooLong: Bool = false, isShown: Bool = false
  ) throws {
    var value = token("p\(phone.number)")
    if isTooLong { value += String(repeating: "x", count: Self.mostCharacters) }
    var object = element
    if field == Soup.compound {
      var address = object[field]?.object ?? [:]
      address["city"] = .string(value)
      object[field] = .object(address)
    } else {
      object[field] = .string(value)
    }
    object["__local__"] = true
    object["__locally_updated__"] = spelling.flag(phone.platform)
    if isShown { object["__last_error_shown__"] = object["__last_error__"] }
    let node = book.newState(after: phone.state.node)
    let number = book.changes.count
    var recordID: String?
    var issued: String?
    var came: Set<Int> = []
    let row = try phone.write(
      object, over: element, into: soup, now: deviceNow(), node: node
    ) { row in
      row.change(field, to: value, number: number)
      (recordID, issued) = (row.serverID, row.issued[field])
      came = row.came ?? []
    }
    book.changes.append(
      Change(
        number: number, step: step, phone: phone.number, state: node, row: row,
        recordID: recordID, field: field, isListed: soup.listed.contains(field), value: value,
        issued: issued, bundle: phone.state.issued, after: came,
        words: object["__last_error_shown__"]?.string ?? ""))
  }

  func create(
    _ phone: Phone, _ soup: Soup, _ spelling: Step.Spelling, key: String? = nil,
    parent: String? = nil
  ) throws -> RowID? {
    guard phone.isInstalled else { return nil }
    let marker = token("new\(phone.number)")
    var object: JSONObject = [
      "Id": .string("local_\(marker)"), "attributes": .object(["type": .string(soup.sobject)]),
      soup.marker: .string(marker), "__local__": true,
      "__locally_created__": spelling.flag(phone.platform), "__locally_updated__": false,
      "__locally_deleted__": false,
    ]
    if soup.name == "visits", setup.visitKey == .external {
      object["External_Id__c"] = .string(key ?? "x-\(marker)")
    }
    if let parent { object["AccountId"] = .string(parent) }
    let field = soup.listed[0]
    let value = token("p\(phone.number)")
    object[field] = .string(value)
    let node = book.newState(after: phone.state.node)
    let number = book.changes.count
    let row = try phone.write(object, into: soup, now: deviceNow(), node: node) { row in
      row.marker = marker
      row.change(field, to: value, number: number)
    }
    book.changes.append(
      Change(
        number: number, step: step, phone: phone.number, state: node, row: row, recordID: nil,
        field: field, isListed: true, value: value, issued: nil, bundle: phone.state.issued))
    book.makers[marker] = Book.Maker(
      phone: phone.number, state: node, soup: soup.name, key: object["External_Id__c"]?.string)
    return row
  }

  private func delete(
    _ phone: Phone, _ soup: Soup, _ pick: Int, _ spelling: Step.Spelling
  ) throws -> Bool {
    guard phone.isInstalled else { return false }
    let elements = try phone.elements(soup.name).filter { !Self.isDeleted($0, phone) }
    guard !elements.isEmpty else { return false }
    let entry = Phone.entry(elements[pick % elements.count])
    try delete(phone, RowID(soup: soup.name, entry: entry), spelling)
    return true
  }

  func delete(_ phone: Phone, _ row: RowID, _ spelling: Step.Spelling) throws {
    guard let soup = Soup.named(row.soup),
      var object = try phone.elements(row.soup).first(where: { Phone.entry($0) == row.entry })
    else { return }
    object["__local__"] = true
    object["__locally_deleted__"] = spelling.flag(phone.platform)
    let node = book.newState(after: phone.state.node)
    _ = try phone.write(object, into: soup, now: deviceNow(), node: node) { $0.isDeleted = true }
  }

  static func isDeleted(_ object: JSONObject, _ phone: Phone) -> Bool {
    switch object["__locally_deleted__"] {
    case .bool(let flag)?: flag
    case .string(let text)?: text == "true"
    case .number(let literal)?: literal == "1"
    default: false
    }
  }

  private func returnAgain(_ pick: Int) throws -> Bool {
    guard !book.returned.isEmpty else { return false }
    let old = book.returned[pick % book.returned.count]
    let inbox = data.inbox(pipeline.inbox.path)
    let path = inbox + "/again-\(step)-\(old.file)"
    try Files.copy(old.path, to: path)
    try date(path)
    return true
  }
}

extension Step.Spelling {
  /// A flag that is set, as this platform's SDK reads it; Android's does not support numbers.
  func flag(_ platform: Platform) -> JSONValue {
    switch self {
    case .boolean: true
    case .text: "true"
    case .number: platform == .ios ? 1 : "true"
    }
  }
}
