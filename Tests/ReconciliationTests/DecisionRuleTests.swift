import JSON
import Ledger
import Testing

struct DecisionRuleTests {
  /// The possible decisions for each verdict: of an update, of a new record, and of a deletion.
  static let table: [(verdict: Verdict?, update: String, create: String, delete: String)] = [
    (nil, "discard", "discard", "discard"),
    (.conflict, "device server set retry", "device server set retry", "device server retry"),
    (.deviceConflict, "device server set retry", "device discard set retry", "device server retry"),
    (.deletedOnServer, "device server retry", "device server retry", "device server retry"),
    (.mergedOnServer, "device server set retry", "server retry", "server retry"),
    (.duplicateCreated, "record discard retry", "record discard retry", "record discard retry"),
    (.notVisible, "retry discard", "retry discard", "retry discard"),
    (.blocked, "retry set discard", "retry set discard", "retry discard"),
    (.notConfigured, "retry discard", "retry discard", "retry discard"),
    (.exceedsUserAccess, "device retry discard", "device retry discard", "device retry discard"),
    (.notAttempted, "device retry discard", "device retry discard", "device retry discard"),
    (.failed, "set retry discard", "set record retry discard", "retry discard"),
    (.unconfirmed, "device retry discard", "record device retry discard", "device retry discard"),
    (.created, "", "", ""), (.updated, "", "", ""), (.deleted, "", "", ""),
    (.unchanged, "", "", ""), (.alreadyInOrg, "", "", ""), (.notInFieldList, "", "", ""),
    (.superseded, "", "", ""), (.discarded, "", "", ""), (.undone, "", "", ""),
    (.partlyUndone, "", "", ""), (.notUndone, "", "", ""),
  ]

  private func possible(_ verdict: Verdict?, _ operation: EditOperation) -> String {
    DecisionRule.possible(
      .init(verdict: verdict, operation: operation, hasRecord: operation != .create)
    ).map(\.rawValue).joined(separator: " ")
  }

  @Test func `each verdict has its possible decisions`() {
    #expect(Self.table.count == Verdict.allCases.count + 1)
    for row in Self.table {
      #expect(possible(row.verdict, .update) == row.update, "\(row)")
      #expect(possible(row.verdict, .create) == row.create, "\(row)")
      #expect(possible(row.verdict, .delete) == row.delete, "\(row)")
    }
  }

  @Test func `every unresolved verdict has a decision that needs no second one`() {
    for verdict in Verdict.allCases where !verdict.isSettled {
      let ways = DecisionRule.possible(
        .init(verdict: verdict, operation: .update, hasRecord: true))
      #expect(ways.contains(.discard) || ways.contains(.server), "\(verdict)")
    }
  }

  @Test func `a row that cannot be read can only be discarded`() {
    let subject = DecisionRule.Subject(
      verdict: .failed, operation: .update, hasRecord: true, isReadable: false)
    #expect(DecisionRule.possible(subject) == [.discard])
  }

  @Test func `a next step names exactly the possible decisions`() {
    for verdict in Verdict.allCases {
      for operation in EditOperation.allCases {
        for (hasRecord, isReadable) in [(true, true), (false, true), (true, false)] {
          let subject = DecisionRule.Subject(
            verdict: verdict, operation: operation, hasRecord: hasRecord, isReadable: isReadable)
          let text = DecisionRule.nextStep(subject, in: "demo", edit: 7)
          let possible = DecisionRule.possible(subject)
          let named = Decision.Kind.allCases.filter { text?.contains($0.option) == true }
          #expect(Set(named) == Set(possible), "\(verdict) \(operation): \(text ?? "nothing")")
          #expect(possible.isEmpty || text?.contains("attache decide demo 7 ") == true)
        }
      }
    }
  }

  @Test func `the advice for a verdict names all decisions of its edits`() {
    for verdict in Verdict.allCases where !verdict.isSettled {
      let line = DecisionRule.nextStep(of: verdict, in: "demo") ?? ""
      for (operation, hasRecord) in [(EditOperation.create, false), (.update, true)] {
        let subject = DecisionRule.Subject(
          verdict: verdict, operation: operation, hasRecord: hasRecord)
        for kind in DecisionRule.possible(subject) {
          #expect(line.contains(kind.option), "\(verdict): \(line)")
        }
      }
    }
    // Sending a create again that may have arrived is not the first choice.
    #expect(
      DecisionRule.nextStep(of: .unconfirmed, in: "demo")?.hasSuffix(
        ": attache decide demo EDIT --match-record ID, --take device, --retry or --discard.")
        == true)
    #expect(
      DecisionRule.nextStep(of: .failed, in: "demo")?.hasSuffix(
        ": attache decide demo EDIT --set FIELD=VALUE, --match-record ID, --retry or --discard.")
        == true)
  }

  @Test func `the advice for known edits names only their decisions, and a single number`() {
    func step(_ edits: (Int64, EditOperation, Bool)...) -> String? {
      DecisionRule.nextStep(
        of: .failed,
        for: edits.map { number, operation, hasRecord in
          (
            number: number,
            subject: DecisionRule.Subject(
              verdict: .failed, operation: operation, hasRecord: hasRecord)
          )
        },
        in: "demo")
    }
    #expect(
      step((7, .update, true))?.hasSuffix(
        ": attache decide demo 7 --set FIELD=VALUE, --retry or --discard.") == true)
    #expect(
      step((7, .update, true), (8, .delete, true))?.hasSuffix(
        ": attache decide demo EDIT --set FIELD=VALUE, --retry or --discard.") == true)
    #expect(step((7, .update, true), (8, .create, false))?.contains("--match-record ID") == true)
    #expect(step() == DecisionRule.nextStep(of: .failed, in: "demo"))
  }

  @Test func `a refusal names the possible decisions`() {
    func words(_ kind: Decision.Kind, _ verdict: Verdict?) -> String? {
      DecisionRule.refusal(
        kind, of: .init(verdict: verdict, operation: .update, hasRecord: true))
    }
    #expect(words(.device, .conflict) == nil)
    #expect(
      words(.discard, .mergedOnServer)
        == "--discard is not possible for an edit with the verdict merged on server; possible: --take device, --take server, --set FIELD=VALUE, --retry"
    )
    #expect(words(.device, .updated) == "it is resolved (updated), so there is nothing to decide")
    #expect(
      words(.device, nil) == "no run has processed it yet, so it can only be discarded (--discard)")
  }

  @Test func `the outcome of a decision follows from the verdict`() {
    let fates: [(Decision.Kind, Verdict, DecisionNote.Fate)] = [
      (.device, .updated, .carriedOut), (.device, .alreadyInOrg, .carriedOut),
      (.device, .conflict, .askedAgain), (.device, .failed, .askedAgain),
      (.device, .notAttempted, .waiting), (.device, .unconfirmed, .waiting),
      (.device, .blocked, .waiting),
      (.server, .discarded, .carriedOut), (.server, .conflict, .askedAgain),
      (.server, .alreadyInOrg, .notNeeded), (.discard, .discarded, .carriedOut),
      (.discard, .created, .notNeeded), (.retry, .conflict, .carriedOut),
      (.retry, .notAttempted, .waiting), (.retry, .updated, .carriedOut),
      (.record, .created, .carriedOut), (.record, .unconfirmed, .waiting),
      (.set, .updated, .carriedOut), (.set, .superseded, .notNeeded),
    ]
    for (kind, verdict, fate) in fates {
      #expect(DecisionNote.fate(of: kind, verdict) == fate, "\(kind) \(verdict)")
    }
  }

  @Test func `the ledger returns decisions as they were entered`() {
    let decisions: [Decision] = [
      .device, .server, .retry, .discard, .record("003000000000001AAA"),
      .set(["A": 1, "B": .null], rest: .server), .set(["A": "x"], rest: .device),
    ]
    for decision in decisions {
      #expect(Decision(decision.kind, decision.values) == decision)
    }
  }
}
