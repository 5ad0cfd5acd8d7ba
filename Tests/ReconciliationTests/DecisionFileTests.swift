import CSV
import JSON
import Ledger
import Reports
import TestSupport
import Testing

struct DecisionFileTests {
  private func read(_ text: String) throws -> [DecisionRequest] {
    try DecisionFile.requests(Array(text.utf8), ConfigurationReader(file: "decisions"))
  }

  private func problems(_ text: String) -> [String] {
    do {
      _ = try read(text)
      return []
    } catch let error as Problems { return error.list.map { "\($0.line): \($0.message)" } } catch {
      return ["\(error)"]
    }
  }

  @Test func `JSON decides single edits`() throws {
    let requests = try read(
      """
      {"format": 1, "decisions": [
        {"edit": 1, "decision": "device", "shown": {"Phone": "x"}},
        {"edit": 2, "decision": "set", "values": {"Phone": 1, "Fax": null}, "rest": "server"},
        {"edit": 3, "decision": "record", "record": "001000000000001"},
        {"edit": 4, "decision": "discard"}, {"edit": 5, "decision": "retry"},
        {"edit": 6, "decision": "server"}
      ]}
      """)
    #expect(requests.map(\.edit) == [1, 2, 3, 4, 5, 6])
    #expect(requests[0].shown == ["Phone": .value("x")])
    #expect(
      requests[1].choice == .fields(["Phone": .value(1), "Fax": .value(.null)], rest: .server))
    #expect(requests[2].choice == .whole(.record("001000000000001AAA")))
    #expect(requests[3].choice == .whole(.discard))
  }

  @Test func `all errors of a JSON file are reported together, with their locations`() {
    #expect(
      problems(
        """
        {"format": 2, "decisions": [
          {"edit": 0, "decision": "device"},
          {"edit": 1, "decision": "devise"},
          {"edit": 2, "decision": "set"},
          {"edit": 3, "decision": "record", "record": "x"},
          {"decision": "discard"}
        ]}
        """) == [
          "1: this version does not support the format", "2: 0 is out of range",
          "3: \"devise\" is not a decision", "4: this sets no value", "5: \"x\" is not a record ID",
          "6: a decision needs an edit and a decision",
        ])
    #expect(problems("{\"decisions\": {}}") == ["1: this must be an array, not an object"])
    #expect(problems("{}") == ["1: the decisions are missing"])
    #expect(
      problems(#"[{"edit": 1, "decision": "device"}]"#)
        == ["1: this must be an object, not an array"])
    #expect((try? read(DecisionFile.form))?.first?.choice == .whole(.device))
    #expect(
      problems(#"{"format": 1, "name": "demo", "stores": []}"#)
        == ["0: this is not a file of decisions: it has no \"decisions\""])
    #expect(
      problems(
        #"{"decisions": [{"edit": 1, "decision": "discard"}, {"edit": 1, "decision": "retry"}]}"#)
        == ["0: edit 1 is decided more than once"])
  }

  @Test func `the published schema accepts valid files and rejects what it can`() throws {
    let schema = try JSONSchema(published: "decisions.schema.json")
    for decision in [
      #""decision": "device", "shown": {"Phone": "x", "Fax": null}"#, #""decision": "server""#,
      #""decision": "set", "values": {"Phone": 1, "Fax": null}, "rest": "device""#,
      #""decision": "set", "values": {"Phone": "x"}"#, #""decision": "retry""#,
      #""decision": "record", "record": "001000000000001""#, #""decision": "discard""#,
    ] {
      let text = #"{"format": 1, "decisions": [{"edit": 7, \#(decision)}]}"#
      #expect(problems(text) == [], "\(text)")
      #expect(schema.faults(try JSONValue(parsing: text)) == [], "\(text)")
    }
    for text in [
      "{}", "[]", #"{"decisions": {}}"#, #"{"format": 2, "decisions": []}"#,
      #"{"decisions": [], "more": 1}"#, #"{"decisions": [{"decision": "discard"}]}"#,
      #"{"decisions": [{"edit": 1}]}"#, #"{"decisions": [{"edit": 0, "decision": "discard"}]}"#,
      #"{"decisions": [{"edit": "1", "decision": "discard"}]}"#,
      #"{"decisions": [{"edit": 1, "decision": "devise"}]}"#,
      #"{"decisions": [{"edit": 1, "decision": "discard", "why": "x"}]}"#,
      #"{"decisions": [{"edit": 1, "decision": "set", "values": ["x"]}]}"#,
      #"{"decisions": [{"edit": 1, "decision": "set", "values": {"A": 1}, "rest": "both"}]}"#,
      #"{"decisions": [{"edit": 1, "decision": "record", "record": 1}]}"#,
      #"{"decisions": [{"edit": 1, "decision": "device", "shown": "x"}]}"#,
    ] {
      #expect(problems(text) != [], "\(text)")
      #expect(schema.faults(try JSONValue(parsing: text)) != [], "\(text)")
    }
  }

  @Test func `equal rows decide the whole edit, including its empty rows`() throws {
    let requests = try read(
      """
      number,field,conflicting,server,decision,value\r
      1,Phone,true,'+1 555,device,\r
      1,Fax,,f,,\r
      2,Phone,,x,,\r
      3,,,,record,001000000000001AAA\r
      4,Name,,,Discard,\r
      """)
    #expect(requests.map(\.edit) == [1, 3, 4])
    #expect(requests[0].choice == .whole(.device))
    #expect(requests[0].shown == ["Phone": .cell("+1 555"), "Fax": .cell("f")])
    #expect(requests[1].choice == .whole(.record("001000000000001AAA")))
    #expect(requests[2].choice == .whole(.discard))
  }

  @Test(arguments: [
    ("number,decision,decision\n1,device,server\n", "1:17: the table has two columns \"decision\""),
    ("number,Decision, decision \n1,device,\n", "1:17: the table has two columns \"decision\""),
    ("Number;number;decision\n1;2;device\n", "1:8: the table has two columns \"number\""),
    (
      "number,deci\u{200B}sion\n1,device\n",
      "1:8: the cell has a character that cannot be seen (U+200B)"
    ),
    (
      "number,name,field,decision\n1,\"a\nb\",Fax,device\n1,c,Na\u{A0}me,device\n",
      "4:5: the cell has a character that cannot be seen (U+00A0)"
    ),
    (
      "number,decision,name\n\n1,device,\"a\nb\"\nx,device,\n",
      "5:1: this is not an edit's number"
    ),
  ]) func `an ambiguous or unseen cell is refused with its line and column`(
    _ text: String, _ expected: String
  ) {
    do {
      _ = try DecisionFile.requests(Array(text.utf8), ConfigurationReader(file: "decisions"))
      Issue.record("it was read")
    } catch { #expect(error.list.map { "\($0.line):\($0.column): \($0.message)" } == [expected]) }
  }

  @Test(arguments: [UInt8(ascii: ";"), UInt8(ascii: "\t")])
  func `a table saved by a spreadsheet is read with its separator`(_ delimiter: UInt8) throws {
    var writer = CSVWriter(lineEnding: .crlf, delimiter: delimiter)
    writer.row(["number", "field", "conflicting", "server", "decision", "value"])
    writer.row(["1", "Phone", "TRUE", "+1,5", "SET", "a; b"])
    let requests = try DecisionFile.requests(
      [0xEF, 0xBB, 0xBF] + writer.bytes, ConfigurationReader(file: "decisions"))
    #expect(requests.first?.choice == .fields(["Phone": .text("a; b")], rest: nil))
    #expect(requests.first?.shown == ["Phone": .cell("+1,5")])
  }

  @Test func `a table in another encoding is refused with the encoding to use`() {
    let bytes = Array("number,decision,value\n1,set,M".utf8) + [0xFC] + Array("ller\n".utf8)
    do {
      _ = try DecisionFile.requests(bytes, ConfigurationReader(file: "decisions"))
      Issue.record("it was read")
    } catch { #expect(error.list.map(\.fix) == ["save it as CSV in UTF-8, or write JSON"]) }
  }

  @Test func `an apostrophe that belongs to a value survives a table`() throws {
    for text in ["'=x", "=x", "''-", "'x", "-1"] {
      var writer = CSVWriter(guardsFormulas: true)
      writer.row(["number", "field", "decision", "value"])
      writer.row(["1", "Name", "set", text])
      let requests = try DecisionFile.requests(writer.bytes, ConfigurationReader(file: "decisions"))
      #expect(requests.first?.choice == .fields(["Name": .text(text)], rest: nil))
    }
  }

  @Test func `rows that differ decide their own fields`() throws {
    let requests = try read(
      """
      number,field,decision,value
      1,Phone,device,
      1,Fax,server,
      1,Name,set,Harbour
      """)
    #expect(
      requests.first?.choice
        == .fields(["Phone": .device, "Fax": .server, "Name": .text("Harbour")], rest: nil))
  }

  @Test func `all errors of a table are reported together, with their rows`() {
    #expect(
      problems(
        """
        number,field,decision,value
        x,Phone,device,
        1,Phone,devise,
        2,Phone,device,
        2,Fax,discard,
        3,,set,x
        4,,record,x
        """) == [
          "2: this is not an edit's number", "3: \"devise\" is not a decision",
          "5: the rows of edit 2 contradict each other", "6: this row names no field",
          "7: the column value does not name a record",
        ])
    #expect(
      problems("a,b\n1,2\n") == [#"1: the table has no column "number" and no column "decision""#])
    #expect(problems("") == ["0: the file is empty"])
  }

  @Test func `a field in two rows has one decision`() throws {
    #expect(
      problems(
        """
        number,field,decision,value
        1,Phone,set,x
        1,Phone,set,y
        1,Name,device,
        2,Phone,device,
        2,Phone,server,
        """) == [
          "3: Phone of edit 1 has two different decisions",
          "6: Phone of edit 2 has two different decisions",
        ])
    let requests = try read(
      """
      number,field,decision,value
      1,Phone,set,x
      1,Phone,set,x
      """)
    #expect(requests.first?.choice == .fields(["Phone": .text("x")], rest: nil))
    #expect(
      problems(
        #"""
        {"decisions": [
          {"edit": 1, "decision": "set", "values": {"Phone": 1, "Phone": 2}}
        ]}
        """#
      ).count == 1)
  }

  @Test func `a value without a decision, or that its decision does not take, is refused`() {
    #expect(
      problems(
        """
        number,field,decision,value
        1,Phone,,x
        2,Phone,device,x
        2,Name,set,y
        3,Phone,discard,x
        4,Phone,set,
        """) == [
          "2: the row has a value and no decision", "3: device takes no value",
          "5: discard takes no value", "6: set has no value",
        ])
  }

  // MARK: resulting decisions

  private func decidable(
    _ fields: [FieldDifference], _ verdict: Verdict = .conflict
  ) -> DecisionFacts {
    var detail = OutcomeDetail()
    detail.fields = fields
    return DecisionFacts(
      edit: 1, subject: .init(verdict: verdict, operation: .update, hasRecord: true),
      detail: detail, soup: SoupKey(store: LedgerFixture.store, soup: "accounts"))
  }

  private static let fields = [
    FieldDifference(name: "Phone", base: "0", device: "1", server: "2", isConflicting: true),
    FieldDifference(name: "Seats", base: 4, device: 5, server: 4),
    FieldDifference(name: "Open", base: true, device: false, server: true),
  ]

  private func decision(
    _ choices: [String: DecisionRequest.FieldChoice], rest: Decision.Side? = nil,
    shown: [String: DecisionRequest.ShownValue] = [:]
  ) -> String {
    let request = DecisionRequest(edit: 1, .fields(choices, rest: rest), shown: shown)
    do throws(DecisionRefusal) {
      let decision = try request.decision(
        for: decidable(Self.fields), sendable: ["Phone", "Seats", "Open", "Name"], ReportMask())
      return JSONValue.object(decision.values).text
    } catch { return error.reason }
  }

  @Test func `typed values get their field's type, and sides are filled in`() {
    #expect(
      decision(["Phone": .text("3"), "Seats": .text("6"), "Open": .text("TRUE"), "Name": .text("")])
        == #"{"values":{"Name":null,"Open":true,"Phone":"3","Seats":6},"rest":"device"}"#)
    #expect(
      decision(["Phone": .server, "Seats": .device], rest: .server)
        == #"{"values":{"Phone":"2","Seats":5},"rest":"server"}"#)
    #expect(
      decision(["Name": .server, "Phone": .device])
        == "the value of Name for server is unknown; enter a value")
    #expect(decision(["Fax": .text("1")]).hasPrefix("Fax is not sent by the sync up of accounts"))
    #expect(decision(["Seats": .text("6")]).hasPrefix("Phone also differs: add --set"))
    #expect(decision(["Seats": .text("6")], rest: .device).contains(#""rest":"device""#))
  }

  @Test func `the file of a long value replaces the value if it was shown or is set`() throws {
    let long = JSONValue(String(repeating: "long ", count: 1000))
    let other = try #require(ReportValues.file(of: .string(long.text)))
    let file = try #require(ReportValues.file(of: long))
    let field = FieldDifference(
      name: "Phone", base: "0", device: long, server: "2", isConflicting: true)
    func decision(_ text: String, shown: String) throws(DecisionRefusal) -> Decision {
      try DecisionRequest(
        edit: 1, .fields(["Phone": .text(text)], rest: nil), shown: ["Phone": .cell(shown)]
      ).decision(for: decidable([field]), sendable: ["Phone"], ReportMask())
    }
    #expect(try decision(file, shown: "2") == .set(["Phone": long], rest: .device))
    let error = #expect(throws: DecisionRefusal.self) { try decision(other, shown: "2") }
    #expect(error?.reason.contains("is not the file of a value of Phone") == true)
    #expect(throws: DecisionRefusal.self) { try decision("3", shown: file) }
  }

  @Test func `cells reformatted by a spreadsheet are the same values`() {
    #expect(
      decision(
        ["Phone": .device], shown: ["Phone": .cell("2"), "Open": .cell("TRUE"), "Seats": .value(4)]
      ).hasPrefix("{"))
    // A text of digits is a text; only numbers are compared numerically.
    #expect(decision(["Phone": .device], shown: ["Phone": .cell("02")]).contains("has changed, or"))
    #expect(decision(["Phone": .device], shown: ["Seats": .cell("4.0")]).hasPrefix("{"))
    #expect(
      decision(["Phone": .device], shown: ["Phone": .cell("3")])
        == "the column server has \"3\" for Phone, but the last report has 2: the org's value has changed, "
        + "or a spreadsheet has reformatted it; decide with the last report")
    #expect(
      decision(["Phone": .device], shown: ["Phone": .value("3")])
        == "the org's Phone has changed since this was shown; the last report has 2: decide with that report"
    )
  }

  @Test func `a field that the last report does not show is named as such`() {
    func reason(_ name: String, _ shown: DecisionRequest.ShownValue) -> String {
      decision(["Phone": .device], shown: [name: shown])
    }
    for shown in [DecisionRequest.ShownValue.value("2"), .value(.null), .cell("2")] {
      #expect(
        reason("phone", shown)
          == "the last report shows no field phone of the edit; did you mean Phone? "
          + "it shows Phone, Seats, Open: decide with that report")
    }
    #expect(reason("Nonsense", .value(1)).hasPrefix("the last report shows no field Nonsense"))
    #expect(reason("Name", .cell("")).hasPrefix("{"))
  }
}
