import JSON
import Ledger
import Pipelines
import Rehearsal
import Reports
import System
import Testing

/// The rows of one setting, played together in one org: each has its own records, and all share the
/// runs.
final class DecisionPlay {
  /// The record of a row, and its state.
  final class Subject: CustomStringConvertible {
    let number: Int
    let row: DecisionRow
    /// The index of the row's next step.
    var place = 0
    let original: String
    var record: String
    var object: String
    var soup: String
    var deviceID: String
    var creations: [DecisionStep.Phone: Int] = [:]
    /// The row's edits by number, and their verdicts in the last run.
    var edits: [Int64] = []
    var verdicts: [Verdict] = []
    var details: [OutcomeDetail] = []
    var decided: [Int: Decision.Kind] = [:]
    var description: String { row.name }
    init(_ number: Int, _ row: DecisionRow, id: String, object: String) {
      (self.number, self.row, self.object) = (number, row, object)
      (original, record, deviceID) = (id, id, id)
      soup = object == "Contact" ? "contacts" : "accounts"
    }

    func filled(_ text: String) -> String {
      text.replacing("#", with: "\(number)").replacing("@", with: record)
    }

    func twin(_ name: String) throws -> String {
      try #require(name == "ours" ? details.first?.recordID : details.first?.otherID)
    }
  }

  let scene: DecisionScene
  var world: World { scene.world }
  private(set) var summary: RunSummary?
  var retried: Set<Verdict> = []
  private var subjects: [Subject] = []
  private var phones: [DecisionStep.Phone: Device] = [:]
  private var changed: Set<DecisionStep.Phone> = []
  private var handbacks: [DecisionStep.Phone: Int64] = [:]
  private var ticks: Int64 = 0
  init(_ setting: DecisionRow.Setting) throws {
    scene = try DecisionScene(setting.change)
    for (number, row) in DecisionTable.rows.filter({ $0.setting == setting }).enumerated() {
      func says(_ text: String) -> Bool { row.steps.contains { $0.text == text } }
      let owner = says("cleo owns it") ? "cleo" : "ada"
      var (id, object) = (try make("Account", number, owner), "Account")
      if says("it is a contact") {
        (id, object) = (try make("Contact", number, owner, ["AccountId": .string(id)]), "Contact")
      }
      for phone in row.phones where phone != .copy && phone.rawValue != owner && owner == "ada" {
        try world.org.share(id, with: world.user(phone.rawValue).username)
      }
      subjects.append(Subject(number, row, id: id, object: object))
    }
  }

  func make(
    _ object: String, _ number: Int, _ owner: String = "ada", _ fields: JSONObject = [:]
  ) throws -> String {
    var fields = fields
    fields[object == "Contact" ? "LastName" : "Name"] = .string("Row\(number)")
    fields["Phone"] = "555"
    if object == "Account" { fields["Website"] = "row.example" }
    let made = world.org.create(object, fields, as: try world.user(owner))
    return try #require(made.id, "\(made.errors)")
  }

  func changing(_ phone: DecisionStep.Phone) throws -> Device {
    changed.insert(phone)
    return try #require(phones[phone])
  }

  func tick() -> Int64 {
    ticks += 1000
    return world.org.now() + ticks
  }

  /// Plays all rows to their ends, and expects that nothing is open then.
  func play() async throws {
    try await world.run()
    for phone in Set(subjects.flatMap(\.row.phones)) where phone != .copy {
      phones[phone] = try world.device(phone.rawValue, phone == .ben ? .android : .ios)
    }
    if let device = phones[.cleo] {
      let copy = Device(platform: .ios, storePath: device.storePath + ".copy")
      try Files.copy(device.storePath, to: copy.storePath)
      phones[.copy] = copy
    }
    // No user changes anything within the second of the prime.
    try world.org.moveClock(by: 3_600_000)
    while true {
      var expected: [(Subject, [Verdict])] = []
      for subject in subjects {
        if let verdicts = try await advance(subject) { expected.append((subject, verdicts)) }
      }
      if expected.isEmpty { break }
      try await run(expected)
    }
    handbacks[.copy] = nil
    try await scene.expectClosed(
      Dictionary(uniqueKeysWithValues: handbacks.map { ($0.key.rawValue, $0.value) }))
  }

  /// Performs the steps of a row up to its next run, and returns the verdicts expected of that; nil
  /// for no run.
  private func advance(_ subject: Subject) async throws -> [Verdict]? {
    while subject.place < subject.row.steps.count {
      let step = subject.row.steps[subject.place]
      subject.place += 1
      if !step.words.isEmpty { try await act(step, subject) }
      if let verdicts = step.verdicts { return verdicts }
    }
    return nil
  }

  // MARK: runs

  private func run(_ expected: [(Subject, [Verdict])]) async throws {
    // Returns are numbered in the order of arrival.
    for phone in changed.sorted(by: { $0.rawValue < $1.rawValue }) {
      try world.handBack(try #require(phones[phone]), as: phone.rawValue + ".sqlite")
      handbacks[phone, default: 0] += 1
    }
    changed = []
    let dates = expected.map { date(of: $0.0) }
    if !retried.isEmpty { try scene.retry(retried) }
    let run = try await world.runAsWritten([.ingest, .reconcile])
    summary = run
    let (news, open) = try scene.withLedger {
      let report = try ReportModel(state: $0, run: run.run, called: "field")
      return (try report.edits.all(), try report.stillOpen.all())
    }
    let told = Dictionary(uniqueKeysWithValues: (news + open).map { ($0.number, $0) })
    for ((subject, verdicts), date) in zip(expected, dates) where !verdicts.isEmpty {
      let earlier = subject.verdicts
      let was = verdicts.indices.map { $0 < earlier.count ? earlier[$0] : nil }
      try look(at: subject, told)
      #expect(subject.verdicts == verdicts, "\(subject)")
      guard subject.verdicts == verdicts else { continue }
      for (place, number) in subject.edits.enumerated() {
        let isNews = news.contains { $0.number == number }
        try check(subject, place, was[place], told[number], isNews: isNews)
      }
      if !zip(was, verdicts).contains(where: { $1.isWritten && $0 != $1 }) {
        #expect(self.date(of: subject) == date, "\(subject): nothing is written")
      }
      subject.decided = [:]
    }
  }

  private func date(of subject: Subject) -> JSONValue? {
    try? world.record(subject.object, subject.record)["SystemModstamp"]
  }

  private func look(at subject: Subject, _ told: [Int64: ReportEdit]) throws {
    let found = try scene.withLedger {
      try $0.connection.all(
        """
        SELECT id, verdict FROM edit
        WHERE record_id = \(subject.original) OR local_id GLOB \("local_\(subject.number)_*")
        ORDER BY id
        """)
    }
    subject.edits = found.compactMap(\.[0].integer)
    subject.verdicts = found.compactMap { $0[1].text.flatMap(Verdict.init(rawValue:)) }
    subject.details = subject.edits.enumerated().map { place, number in
      told[number]?.detail
        ?? (place < subject.details.count ? subject.details[place] : OutcomeDetail())
    }
  }

  private func check(
    _ subject: Subject, _ place: Int, _ before: Verdict?, _ told: ReportEdit?, isNews: Bool
  ) throws {
    let verdict = subject.verdicts[place]
    let kind = subject.decided[place]
    guard before == nil || kind != nil else {
      // An edit without a decision is new if its verdict has changed.
      if before == verdict, !verdict.isWaiting, retried.isEmpty {
        #expect(!isNews, "\(subject): \(verdict) is reported again")
      }
      return
    }
    let detail = try #require(told, "\(subject): \(verdict) is not reported").detail
    if [.conflict, .deviceConflict].contains(verdict), subject.creations.isEmpty,
      let record = try? world.record(subject.object, subject.record)
    {
      for field in detail.fields {
        #expect(field.server == record[field.name] ?? .null, "\(subject): \(field)")
      }
    }
    if verdict == .mergedOnServer { #expect(detail.otherID == subject.record, "\(subject)") }
    guard let kind else { return }
    let note = try #require(detail.decision, "\(subject): the decision is not reported")
    #expect(note.by == "grace" && note.kind == kind, "\(subject): \(note)")
    // A decision that could not be applied is asked for again, with the reason.
    if note.fate == .askedAgain {
      #expect(!verdict.isSettled && detail.message != nil, "\(subject): \(detail)")
    } else {
      #expect(note.fate == DecisionNote.fate(of: kind, verdict), "\(subject): \(note)")
    }
    let last = try scene.states(of: subject.edits[place]).last
    let states: [DecisionNote.Fate: String] = [
      .carriedOut: "done", .askedAgain: "moved", .notNeeded: "withdrawn", .waiting: "pending",
    ]
    #expect(last == states[note.fate].map { "\(kind) \($0)" }, "\(subject): \(note)")
  }
}
