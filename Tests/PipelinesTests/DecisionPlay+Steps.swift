import JSON
import Ledger
import LocalOrg
import Pipelines
import System
import Testing

extension DecisionPlay {
  func act(_ step: DecisionStep, _ one: Subject) async throws {
    if let deed = Self.deeds[step.text] { return try await deed(self, one) }
    let fields = step.fields.reduce(into: JSONObject()) {
      $0[$1.key] = $1.value.isEmpty ? .null : .string(one.filled($1.value))
    }
    if let phone = step.phone {
      try act(step, one, on: phone, fields)
    } else if let kind = step.decision {
      try decide(kind, step, one)
    } else {
      switch step.words[0] {
      case "office": try office(step.words, one, fields)
      case "refuses":
        let kind = try #require(Decision.Kind(rawValue: step.words[1]))
        let decision: Decision? =
          switch kind {
          case .set: .set(["Phone": "x"], rest: .device)
          case .record: .record("003000000000009AAA")
          default: Decision(kind, [:])
          }
        #expect(throws: PipelineError.self, "\(one): \(step.text)") {
          try scene.decide(one.edits[step.edit], try #require(decision))
        }
      case "told":
        for (name, value) in fields {
          let told = one.details[0].fields.first { $0.name == name }
          #expect(told?.server == value, "\(one): \(step.text)")
        }
      case "is" where step.words[1] == "gone":
        #expect(throws: (any Error).self, "\(one)") { try world.record(one.object, one.record) }
      case "is":
        let record = try world.record(one.object, one.record)
        for (name, value) in fields { #expect(record[name] ?? .null == value, "\(one): \(name)") }
      case "finds":
        let query = one.filled(step.words.dropFirst(2).joined(separator: " "))
        #expect(try scene.count("SELECT Id FROM " + query) == Int(step.words[1]), "\(one)")
      default: Issue.record("\(one): no step is called \(step.text)")
      }
    }
  }

  private func act(
    _ step: DecisionStep, _ one: Subject, on phone: DecisionStep.Phone, _ fields: JSONObject
  ) throws {
    let device = try changing(phone)
    switch step.words[1] {
    case "edits": try device.edit(one.soup, id: one.deviceID, fields, now: tick())
    case "cleans": try device.clean(one.soup, id: one.deviceID, now: tick())
    case "deletes": try device.delete(one.soup, id: one.deviceID, now: tick())
    default:
      let objects = ["accounts": "Account", "contacts": "Contact", "workorders": "WorkOrder"]
      one.creations[phone, default: 0] += 1
      one.soup = step.words[2]
      one.deviceID = try device.create(
        one.soup, type: try #require(objects[one.soup]), fields,
        localID: "local_\(one.number)_\(one.creations[phone] ?? 0)", now: world.org.now())
    }
  }

  private func office(_ words: [String], _ one: Subject, _ fields: JSONObject) throws {
    let org = world.org
    switch words[1] {
    case "enters": try world.change(one.record, fields, of: one.object)
    case "restores":
      try org.undelete(one.original)
      one.record = one.original
    case "makes":
      let made = org.create(words[2], fields, as: try world.user("ada"))
      (one.record, one.object) = (try #require(made.id), words[2])
    case "shares": try org.share(one.record, with: world.user(words[4]).username)
    case "hides":
      // It is hidden from its owner by giving it to another user.
      if words[4] == "ada" { try org.transfer(one.record, to: "admin@example.com") }
      try org.unshare(one.record, from: world.user(words[4]).username)
    case "deletes", "merges":
      var lost = one.record
      if words.count > 2 {
        (lost, one.object) = (try one.twin(words[2]), "Contact")
        one.record = try one.twin(words[2] == "ours" ? "other" : "ours")
      } else if words[1] == "merges" {
        one.record = try make("Account", one.number)
      }
      if words[1] == "merges" {
        try org.merge(lost, into: one.record)
      } else {
        let deleted = org.delete(one.object, id: lost, as: try world.user("admin"))
        #expect(deleted.errors.isEmpty)
      }
    default: Issue.record("\(one): unknown change \(words[1])")
    }
  }

  private func decide(_ kind: Decision.Kind, _ step: DecisionStep, _ one: Subject) throws {
    let edit = one.edits[step.edit]
    switch kind {
    case .set:
      try scene.set(
        edit, step.fields.mapValues(one.filled), rest: step.words.contains("rest") ? .server : nil)
    case .record:
      if step.words.count > 1 {
        (one.record, one.object) = (try one.twin(step.words[1]), "Contact")
      }
      try scene.decide(edit, .record(one.record))
    default: try scene.decide(edit, try #require(Decision(kind, [:])))
    }
    one.decided[step.edit] = kind
  }

  // MARK: steps without parameters

  private typealias Deed = @Sendable (DecisionPlay, Subject) async throws -> Void

  private static let deeds: [String: Deed] = [
    "cleo owns it": { _, _ in }, "it is a contact": { _, _ in },
    // As in a report without values.
    "the report loses its values": { play, one in
      _ = try play.scene.withLedger {
        try $0.connection.run("UPDATE outcome SET detail = '{}' WHERE edit_id = \(one.edits[0])")
      }
    },
    "no entered value is reported": { _, one in
      #expect(one.details[0].fields.map(\.entered) == [nil])
    },
    "the entered name is reported": { play, one in
      let entered = one.details.flatMap(\.fields).filter { $0.entered != nil }
      #expect(entered.map(\.name) == ["Name"])
      #expect(entered.map(\.device?.string?.count) == [300])
      let name = one.filled("Crane#")
      #expect(entered.first?.entered == .string(name))
      let path = play.world.data.report(try #require(play.summary).run) + "/success.csv"
      #expect(try String(decoding: Files.read(path), as: UTF8.self).contains(",\(name),"))
    },
    "the record is reported": { _, one in #expect(one.details[0].recordID == one.record, "\(one)")
    },
    "both IDs are reported": { _, one in
      #expect(one.details[0].recordID == one.record && one.details[0].otherID == one.original)
    },
    "the message says that no sync up sends Phone": { _, one in
      #expect(one.details[0].message?.contains("no sync up sends Phone any more") == true)
    },
    "the message says that both records exist": { _, one in
      let message = "does not show that one of them was deleted"
      #expect(one.details[0].message?.contains(message) == true)
      #expect(one.details[0].recordID != nil && one.details[0].otherID != nil)
    },
    "the run needs attention": { play, _ in #expect(play.summary?.exitStatus == .needsAttention) },
    "runs retry": { play, _ in play.retried = [.duplicateCreated] },
    "runs stop retrying": { play, _ in play.retried = [] },
    "the org refuses Harbour": { play, _ in try play.refuse("Harbour") },
    "the org accepts all names": { play, _ in try play.refuse("none") },
    "a sync up covers work orders": { play, _ in
      let named = DecisionRow.Setting.named
      try play.world.rewrite(named, named.replacing("[", with: #"["syncUpWorkOrders", "#))
    }, "the list loses Phone": { play, _ in try play.list(#""Name", "Phone""#, #""Name""#) },
    "the list has Phone again": { play, _ in try play.list(#""Name""#, #""Name", "Phone""#) },
    "the limit is raised": { play, _ in
      try play.world.rewrite(#""perSnapshot": 1"#, #""perSnapshot": 2"#)
    }, "cleo cannot log in": { play, _ in try play.world.org.setActive("cleo@example.com", false) },
    "cleo can log in": { play, _ in try play.world.org.setActive("cleo@example.com", true) },
    "a generation is primed": { play, _ in _ = try await play.world.runAsWritten() },
    "a day passes": { play, _ in try play.world.org.moveClock(by: 86_400_000) },
    "the window passes": { play, _ in try play.world.org.moveClock(by: 1_000_000) },
    "late requests arrive": { play, _ in play.world.server.deliverHeld() },
    "creates are lost twice": { play, _ in
      play.fail(.collectionCreate, times: 2, .drop(afterCommit: false))
    },
    "creates arrive late once": { play, _ in
      play.fail(.collectionCreate, times: 1, .deliverLate(seconds: 1_000_000))
    },
    "creates arrive late twice": { play, _ in
      play.fail(.collectionCreate, times: 2, .deliverLate(seconds: 1_000_000))
    },
    // Both attempts of a run.
    "updates and deletions arrive late": { play, _ in
      for kind in [RequestKind.collectionUpdate, .collectionDelete] {
        play.fail(kind, times: 2, .deliverLate(seconds: 1_000_000))
      }
    },
  ]

  private func fail(_ kind: RequestKind, times: Int, _ fault: Faults.Action) {
    world.server.faults.add(.kind(kind), nth: 1, times: times, fault)
  }

  private func list(_ old: String, _ new: String) throws {
    let rest = #", "Website", "Description"], "mergeMode""#
    try world.rewrite("[\(old)\(rest)", "[\(new)\(rest)", in: "demo/usersyncs.json")
  }

  private func refuse(_ prefix: String) throws {
    let rules = """
      {"objects": {"Account": {"validationRules": [
        {"name": "Rule", "condition": "BEGINS(Name, '\(prefix)')", "message": "No."}]}}}
      """
    try world.org.setUp(OrgSetup(parsing: Array(rules.utf8)))
  }
}
