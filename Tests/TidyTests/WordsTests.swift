import Foundation
import Testing

/// No page, comment, test name or string uses a word of the left column of docs/dev/style.md's list.
@Suite struct WordsTests {
  /// A regular expression for words of the list, without regard to case, and words to use instead.
  struct Word: Sendable {
    let pattern: String
    let instead: String

    init(_ pattern: String, _ instead: String) { (self.pattern, self.instead) = (pattern, instead) }
  }

  static let words = [
    Word(#"\bmend(s|ed|ing)?\b"#, "fix"),
    Word(#"\banew\b|\bonce more\b"#, "again"),
    Word(
      #"\bgo(es|ne|ing)? on (with|from|where|by)\b|\bwent on\b|\bgoes on\b"#,
      "resume, continue"),
    Word(
      #"(?-i:\bbegins?\b)(?! (with|at|in|after|before|by)\b)|\bat work\b"#,
      "start, is running, was interrupted, finished"),
    Word(#"\bdied\b|\bend(s|ed)? by itself\b"#, "start, is running, was interrupted, finished"),
    Word(#"\bnights?\b"#, "run"),
    Word(#"\bpersons?\b"#, "operator, user"),
    Word(#"\b(nobody|somebody|whoever)\b"#, "no one, another user"),
    Word(#"\bwhatever (dies|died|fails|failed|becomes|became)\b"#, "no one, another user"),
    Word(#"\b(the|an) office\b|\boffice's\b"#, "the org's users"),
    Word(#"\btell(s|ing)? of\b"#, "report, message"),
    Word(#"\b(is|are|was|were|be|been|being|not|and|or|both) told\b"#, "report, message"),
    Word(
      #"\btold (as|of|by|with|at|that|what|where|whose|apart)\b|\bin words\b"#,
      "report, message"),
    Word(#"('s|\b(its|their|own)) words\b"#, "report, message"),
    Word(#"\bwhat bec[ao]mes? of\b"#, "outcome"),
    Word(#"\bsays? whether\b"#, "whether"),
    Word(#"\bhand(s|ed|ing)?[- ]backs?\b"#, "return"),
    Word(#"\bhand(s|ed|ing)? (it|them|one|(a|the|its) (store|file)) back\b"#, "return"),
    Word(#"\b(un)?settl(e|es|ed|ing)\b"#, "resolved, processed, discarded, applied"),
    Word(
      #"\b(take[ns]?|taking|took) (it |them |that )?up\b"#,
      "resolved, processed, discarded, applied"),
    Word(
      #"\b(give[ns]?|giving|gave) (it |them |that |the edit )?up\b"#,
      "resolved, processed, discarded, applied"),
    Word(#"\bcarr(y|ies|ied|ying) (it |them )?out\b"#, "resolved, processed, discarded, applied"),
    Word(#"\b(held|holds?|holding)\b[^.;:\n]{0,40}\bagainst\b"#, "compare with"),
    Word(#"\b(un)?prov(e|es|ed|en|ing)\b"#, "validate, verify"),
    Word(#"\bno more[.,;:)]"#, "is in, has"),
    Word(#"\b(know|is|are|has|have|read|see|find)s?( \w+){0,3} no more\b(?! than)"#, "is in, has"),
    Word(#"\bput(s|ting)? aside\b|\b(stand|stands|stood|standing) in\b"#, "is in, has"),
    Word(#"\b(lie|lies|lay|lain|lying) (in|beside|below|above|there)\b|\bbears?\b"#, "is in, has"),
    Word(#"\bbor(e|ne)\b"#, "is in, has"),
    Word(
      #"(?<!there )\b(is|are|was|were) no (?!(longer|more|other|one)\b)[a-z]"#,
      "is not, separate, next to, anyway, as before, otherwise"),
    Word(
      #"\bof (its|their|one's|his|your|our) own\b(?!( \w+)? \w{4,})|\bbeside\b"#,
      "is not, separate, next to, anyway, as before, otherwise"),
    Word(
      #"\ball the same\b|\bas ever\b|[,;(] ?else\b(?! if\b| \{)|\bor else\b"#,
      "is not, separate, next to, anyway, as before, otherwise"),
    Word(
      #"\bblanks\b|\bhal(f|ves) of (a )?characters?\b|\b(the|its) works\b"#,
      "white space, unpaired surrogates, internals, injected fault"),
    Word(
      #"\bfaults? that (is|are) ordered\b|\border(s|ed|ing)? (a |the )?faults?\b"#,
      "white space, unpaired surrogates, internals, injected fault"),
    Word(#"\bcarried (edit|row|record|one)s?\b"#, "redelivered"),
    Word(#"\b(is|are|was|were|be|been|edits?|rows?|records?) carried\b"#, "redelivered"),
    Word(#"\bremade\b"#, "recreated"),
    Word(#"\bin doubt\b"#, "unconfirmed"),
    Word(
      #"\bwitness(es)?\b|\bown writes?\b|\bremaining records?\b"#,
      "prior write, merge survivor, match"),
    Word(#"\blikeness(es)?\b"#, "prior write, merge survivor, match"),
    Word(#"\bclash(es|ed|ing)?\b"#, "device conflict"),
    Word(
      #"(?<!in )(?<!take )(?<!takes )\b(the|its|their|a|this|that|which|each|every|one) place\b"#,
      "location, position, index"),
    Word(#"\bplaces (in|of|where)\b"#, "location, position, index"),
    Word(#"\bwhat judges\b|\bjudg(e|es|ed|ing) from outside\b"#, "third-party test tool"),
  ]

  /// Files that quote the words.
  private static let quoting = [
    "docs/dev/style.md", "Tests/TidyTests/WordsTests.swift",
  ]

  /// Files and folders that are not clean yet.
  ///
  /// If one of them is clean, a test fails until it is removed here.
  private static let exceptions: [String] = [
    "Sources/Arguments", "Sources/HTTP", "Sources/Ledger",
    "Sources/LocalOrg", "Sources/MobileSync", "Sources/Pipelines", "Sources/Reconciliation",
    "Sources/Rehearsal", "Sources/Returns", "Sources/Review", "Sources/Salesforce",
    "Sources/SmartStore", "Sources/Snapshots", "Sources/System", "Sources/attache",
    "Tests/ArgumentsTests", "Tests/BundlesTests", "Tests/JSONTests",
    "Tests/LocalOrgTests", "Tests/MobileSyncTests", "Tests/PipelinesTests",
    "Tests/ReconciliationTests", "Tests/RehearsalTests", "Tests/SQLiteTests",
    "Tests/SalesforceTests", "Tests/SmartStoreTests", "Tests/SnapshotsTests", "Tests/SystemTests",
  ]

  /// Every sentence of the repository, by its file.
  private static let files: [(path: String, units: [Prose.Unit])] = {
    let swift = ["Sources", "Tests", "Benchmarks"].flatMap { SourceTree.files(under: $0) }
    let manifest = ["Package.swift"].compactMap { SourceTree.file($0) }
    let pages = SourceTree.pages
    return (swift + manifest).map { ($0.path, Prose.swift($0.text)) }
      + pages.map { ($0.path, Prose.markdown($0.text)) }
  }()

  private static func expression(_ words: [Word]) throws -> NSRegularExpression {
    try NSRegularExpression(
      pattern: words.map(\.pattern).joined(separator: "|"), options: .caseInsensitive)
  }

  /// The words of the list in some text.
  private static func found(_ text: String, _ expression: NSRegularExpression) -> [String] {
    expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap {
      Range($0.range, in: text).map { String(text[$0]) }
    }
  }

  private static func isException(_ path: String) -> Bool {
    exceptions.contains { path == $0 || path.hasPrefix($0 + "/") }
  }

  @Test func `no sentence uses a word of the list`() throws {
    let expression = try Self.expression(Self.words)
    let each = try Self.words.map { ($0, try Self.expression([$0])) }
    for file in Self.files where !Self.quoting.contains(file.path) && !Self.isException(file.path) {
      for unit in file.units {
        for word in Self.found(unit.text, expression) {
          let instead = each.first { !Self.found(unit.text, $0.1).isEmpty }?.0.instead ?? ""
          Issue.record("\(file.path):\(unit.line): \"\(word)\"; say: \(instead)")
        }
      }
    }
  }

  @Test func `each exception still has such a word`() throws {
    let expression = try Self.expression(Self.words)
    for exception in Self.exceptions {
      let isNeeded = Self.files.contains { file in
        (file.path == exception || file.path.hasPrefix(exception + "/"))
          && !Self.quoting.contains(file.path)
          && file.units.contains { !Self.found($0.text, expression).isEmpty }
      }
      #expect(isNeeded, "\(exception) is clean: remove it from the list")
    }
  }

  @Test func `each row of the page's list is found by a pattern`() throws {
    let page = try #require(SourceTree.pages.first { $0.path == "docs/dev/style.md" })
    let list = try #require(page.text.components(separatedBy: "\n## Words\n").last)
    let rows = list.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(rows.count > 20)
    let expression = try Self.expression(Self.words)
    for row in rows {
      let cell = String(row.split(separator: "|").first ?? "")
      #expect(!Self.found(cell, expression).isEmpty, "\(cell)")
    }
  }

  @Test(arguments: [
    ("// A run that dies is gone on with.", ["gone on with"]),
    ("/// What became of it, once\n/// more.", ["What became of", "once more"]),
    ("@Test func `nobody is told`() {}", ["nobody", "is told"]),
    (#"print("\(count) edits are settled") // anew"#, ["settled", "anew"]),
    (#"print("a \(name("is told")) file lies in \(place)")"#, ["lies in"]),
    ("let text = \"\"\"\n  The bundle bears a date.\n  \"\"\"", ["bears"]),
  ])
  func `a planted word is found in Swift source`(_ source: String, _ words: [String]) throws {
    let expression = try Self.expression(Self.words)
    #expect(Prose.swift(source).flatMap { Self.found($0.text, expression) } == words)
  }

  @Test(arguments: [
    ("One night a person\nis told of it.", ["night", "person", "is told"]),
    ("| the office | in doubt |", ["the office", "in doubt"]),
    ("- mended\n- clash", ["mended", "clash"]),
  ])
  func `a planted word is found on a page`(_ page: String, _ words: [String]) throws {
    let expression = try Self.expression(Self.words)
    #expect(Prose.markdown(page).flatMap { Self.found($0.text, expression) } == words)
  }

  @Test func `other uses, code and keys pass`() throws {
    let expression = try Self.expression(Self.words)
    let source = """
      // A name that begins with a dot, in its place, is no longer read: there is no other.
      let settled = row["carried"] ?? nobody
      if told { beside() } else { place() }
      let limit = "at most 500 requests"
      """
    #expect(Prose.swift(source).flatMap { Self.found($0.text, expression) } == [])
    let page = "Use `a clash is settled` and the list of its own files.\n\n```\nnobody\n```\n"
    #expect(Prose.markdown(page).flatMap { Self.found($0.text, expression) } == [])
  }
}
