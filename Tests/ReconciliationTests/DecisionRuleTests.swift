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
      let ways = DecisionRule.possible(.init(verdict: verdict, operation: .update, hasRecord: true))
      #expect(ways.contains(.discard) || ways.contains(.server), "\(verdict)")
    }
  }

  @Test func `a row that cannot be read can only be discarded`() {
    let subject = DecisionRule.Subject(
      verdict: .failed, operation: .update, hasRecord: true, isReadable: false)
    #expect(DecisionRule.possible(subject) == [.discard])
  }

  /// Edits with a verdict: of every operation, with and without a record in the org, one that
  /// cannot be read, and one whose changes are to be undone.
  private func subjects(of verdict: Verdict) -> [DecisionRule.Subject] {
    EditOperation.allCases.flatMap { operation in
      let kinds: [(hasRecord: Bool, isReadable: Bool, isToBeUndone: Bool)] = [
        (true, true, false), (false, true, false), (true, false, false), (true, true, true),
      ]
      return kinds.map {
        DecisionRule.Subject(
          verdict: verdict, operation: operation, hasRecord: $0.hasRecord,
          isReadable: $0.isReadable, isToBeUndone: $0.isToBeUndone)
      }
    }
  }

  private static let suggestions: [(words: String, kinds: Set<Decision.Kind>)] = [
    ("and retry", [.retry]), ("retry after", [.retry]), ("send it", [.device]),
    ("recreate", [.device]), ("another value", [.set]), ("name the record", [.record]),
    ("leave it deleted", [.server]), ("discard", [.discard, .server]),
    ("compare", [.device, .server]), ("right device's edit", [.device]),
    ("each other edit", [.server, .discard]), ("which one counts", [.record]),
  ]

  private func refused(_ text: String, _ possible: Set<Decision.Kind>) -> [String] {
    let end = text.firstRange(of: ": attache decide")?.lowerBound ?? text.endIndex
    let words = text[..<end].lowercased()
    return Self.suggestions.filter {
      words.contains($0.words) && $0.kinds.isDisjoint(with: possible)
    }.map(\.words)
  }

  @Test func `every advice suggests exactly the decisions that the rule permits`() {
    for verdict in Verdict.allCases {
      let subjects = subjects(of: verdict)
      var printed: [(text: String?, possible: Set<Decision.Kind>)] = []
      for first in subjects {
        let possible = DecisionRule.possible(first)
        printed.append((DecisionRule.nextStep(first, in: "demo", edit: 7), Set(possible)))
        for second in subjects {
          let text = DecisionRule.nextStep(
            of: verdict, for: Set([first, second]), edit: 7, in: "demo")
          printed.append((text, Set(possible + DecisionRule.possible(second))))
        }
      }
      for (text, possible) in printed {
        let named = Decision.Kind.allCases.filter { text?.contains($0.option) == true }
        #expect(Set(named) == possible, "\(verdict): \(text ?? "nothing")")
        #expect(possible.isEmpty || text?.contains("attache decide demo 7 ") == true)
        #expect(refused(text ?? "", possible) == [], "\(verdict): \(text ?? "nothing")")
      }
      if !verdict.isSettled {
        #expect(DecisionRule.nextStep(of: verdict, for: [], in: "demo") == nil, "\(verdict)")
      }
    }
  }

  @Test func `every suggestion of an advice is checked`() {
    // An advice that none of the words covers would pass the test above without a check.
    let open = Verdict.allCases.filter { !$0.isSettled }.compactMap { verdict in
      verdict.traits.advice(Decision.Kind.allCases)?.lowercased()
    }
    for (words, _) in Self.suggestions { #expect(open.contains { $0.contains(words) }, "\(words)") }
    #expect(refused("Send another value, or discard the edit: …", [.server]) == ["another value"])
  }

  @Test func `the advice for a verdict lists the usual decisions in their order`() {
    func line(_ verdict: Verdict) -> String? {
      let edits = [(EditOperation.create, false), (.update, true)].map {
        DecisionRule.Subject(verdict: verdict, operation: $0, hasRecord: $1)
      }
      return DecisionRule.nextStep(of: verdict, for: Set(edits), in: "demo")
    }
    // Sending a create again that may have arrived is not the first choice.
    #expect(
      line(.unconfirmed)?.hasSuffix(
        ": attache decide demo EDIT followed by one of: --match-record ID, --take device, --retry, "
          + "--discard. Not every one of them allows --match-record ID.") == true)
    #expect(
      line(.failed)?.hasSuffix(
        ": attache decide demo EDIT followed by one of: --set FIELD=VALUE, --match-record ID, "
          + "--retry, --discard. Not every one of them allows --match-record ID.") == true)
  }

  @Test func `the advice for known edits names only their decisions, and a single number`() {
    func step(_ number: Int64?, _ edits: (EditOperation, Bool)...) -> String? {
      DecisionRule.nextStep(
        of: .failed,
        for: Set(
          edits.map { DecisionRule.Subject(verdict: .failed, operation: $0, hasRecord: $1) }),
        edit: number, in: "demo")
    }
    #expect(
      step(7, (.update, true))
        == "Send another value, retry after fixing the reported error, or discard the edit: "
        + "attache decide demo 7 followed by one of: --set FIELD=VALUE, --retry, --discard.")
    #expect(
      step(8, (.delete, true)) == "Retry after fixing the reported error, or discard the edit: "
        + "attache decide demo 8 followed by one of: --retry, --discard.")
    #expect(
      step(nil, (.update, true), (.delete, true))?.hasSuffix(
        ": attache decide demo EDIT followed by one of: --set FIELD=VALUE, --retry, --discard. "
          + "Not every one of them allows --set FIELD=VALUE.") == true)
    #expect(step(nil, (.update, true), (.create, false))?.contains("--match-record ID") == true)
  }

  @Test func `a refusal names the possible decisions`() {
    func words(_ kind: Decision.Kind, _ verdict: Verdict?) -> String? {
      DecisionRule.refusal(kind, of: .init(verdict: verdict, operation: .update, hasRecord: true))
    }
    #expect(words(.device, .conflict) == nil)
    #expect(
      words(.discard, .mergedOnServer)
        == "--discard is not possible for an edit with the verdict merged on server; possible: --take device, --take server, --set FIELD=VALUE or --retry"
    )
    #expect(words(.device, .updated) == "it is resolved (updated), so there is nothing to decide")
    #expect(
      words(.device, nil) == "no run has processed it yet, so it can only be discarded (--discard)")
  }

  @Test func `the verdicts that permit a decision are listed, with those that do for creates`() {
    #expect(
      DecisionRule.verdicts(permitting: .record)
        == "duplicate created, failed (creates only), unconfirmed (creates only)")
    #expect(
      DecisionRule.verdicts(permitting: .server)
        == "conflict, device conflict, deleted on server, merged on server")
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
    for decision in decisions { #expect(Decision(decision.kind, decision.values) == decision) }
  }
}
