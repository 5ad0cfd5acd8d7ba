import Foundation
import Testing

/// No page, comment, test name or string uses a word of docs/dev/style.md's list.
@Suite struct WordsTests {
  /// Words of the list and words to use instead.
  ///
  /// The pattern is a regular expression that starts at the start of a word and ignores case.
  struct Word: Sendable {
    let pattern: String
    let instead: String
    init(_ pattern: String, _ instead: String) { (self.pattern, self.instead) = (pattern, instead) }
  }

  static let words = [
    Word(#"mend(s|ed|ing)?\b"#, "fix"), Word(#"anew\b|once more\b"#, "again"),
    Word(
      #"(goes|go|gone|going|went) on (with|from|where|by)\b|(went|goes) on\b"#, "resume, continue"),
    Word(
      #"(?-i:begins?\b)(?! (with|at|in|after|before|by)\b)|at work\b|died\b"#,
      "start, is running, was interrupted, finished"),
    Word(#"end(s|ed)? by itself\b"#, "start, is running, was interrupted, finished"),
    Word(#"nights?\b"#, "run"), Word(#"persons?\b(?! accounts?\b)"#, "operator, user"),
    Word(#"(?<![:{'\"])(nobody|somebody|whoever)\b(?![@:'\"])"#, "no one, another user"),
    Word(#"whatever (dies|died|fails|failed|becomes|became)\b"#, "no one, another user"),
    Word(#"(the|an) office\b|office's\b"#, "the org's users"),
    Word(#"tell(s|ing)? of\b|(is|are|was|were|be|been|being) told\b(?! to\b)"#, "report, message"),
    Word(#"told (as|of|by|with|at|that|what|where|whose|apart)\b|in words\b"#, "report, message"),
    Word(#"(its|their|own) words\b|(?<='s )words\b"#, "report, message"),
    Word(#"what bec[ao]mes? of\b"#, "outcome"), Word(#"(?-i:Says? whether\b)"#, "whether"),
    Word(#"hand(s|ed|ing)?[- ]backs?\b"#, "return"),
    Word(#"hand(s|ed|ing)? (it|them|one|(a|the|its) (store|file)) back\b"#, "return"),
    Word(#"(un)?settl(e|es|ed|ing)\b"#, "resolved, processed, discarded, applied"),
    Word(
      #"(take[ns]?|taking|took) (it |them |that )?up\b"#, "resolved, processed, discarded, applied"),
    Word(
      #"(give[ns]?|giving|gave) (it |them |that |the edit )?up\b"#,
      "resolved, processed, discarded, applied"),
    Word(#"carr(y|ies|ied|ying) (it |them )?out\b"#, "resolved, processed, discarded, applied"),
    Word(#"(held|holds?|holding)\b[^.;:\n]{0,40}\bagainst\b"#, "compare with"),
    Word(#"(un)?prov(e|ed|en|ing)\b"#, "validate, verify"),
    Word(#"no more[.,;:)]|put(s|ting)? aside\b"#, "is in, has"),
    Word(#"(stand|stands|stood|standing) in\b"#, "is in, has"),
    Word(#"(lie|lies|lay|lain|lying) (in|beside|below|above|there)\b|bears?\b"#, "is in, has"),
    Word(#"bor(e|ne)\b"#, "is in, has"),
    Word(
      #"(?<!there )(is|are|was|were) no (?!(longer|more|other|one|reason|proof|loss|need)\b)[a-z]"#,
      "is not, separate, next to, anyway, as before, otherwise"),
    Word(
      #"of (its|their|one's|his|your|our) own\b(?!( \w+)? \w{4,})|beside\b"#,
      "is not, separate, next to, anyway, as before, otherwise"),
    Word(
      #"all the same\b|as ever\b|(?<=[,;(])else\b(?! if\b| \{)"#,
      "is not, separate, next to, anyway, as before, otherwise"),
    Word(
      #"(?<=[,;(] )else\b(?! if\b| \{)|or else\b"#,
      "is not, separate, next to, anyway, as before, otherwise"),
    Word(
      #"blanks\b|hal(f|ves) of (a )?characters?\b|(the|its) works\b"#,
      "white space, unpaired surrogates, internals, injected fault"),
    Word(
      #"faults? that (is|are) ordered\b|order(s|ed|ing)? (a |the )?faults?\b"#,
      "white space, unpaired surrogates, internals, injected fault"),
    Word(#"carried (edit|row|record|one)s?\b"#, "redelivered"),
    Word(#"(is|are|was|were|be|been|edits?|rows?|records?) carried\b"#, "redelivered"),
    Word(#"remade\b"#, "recreated"), Word(#"in doubt\b"#, "unconfirmed"),
    Word(
      #"witness(es)?\b|own writes?\b|remaining record\b|likeness(es)?\b"#,
      "prior write, merge survivor, match"), Word(#"clash(es|ed|ing)?\b"#, "device conflict"),
    Word(
      #"(?<!in )(?<!takes )(?<!take )(?<!to )(?<!at )(the|its|their|a) place\b"#,
      "location, position, index"),
    Word(
      #"(this|that|which|each|every|one) place\b|places (in|of|where)\b"#,
      "location, position, index"),
    Word(#"what judges\b|judg(e|es|ed|ing) from outside\b"#, "third-party test tool"),
  ]

  private static let quoting = ["docs/dev/style.md", "Tests/TidyTests/WordsTests.swift"]

  /// Files and folders that are not clean yet.
  ///
  /// If one of them is clean, a test fails until it is removed here.
  private static let exceptions: [String] = [
    "Sources/Ledger/LedgerSchema.swift",
    "Sources/Review/ReviewPage+Script.swift", "Sources/Review/ReviewPage+Style.swift",
  ]

  private static let files: [(path: String, units: [Prose.Unit])] = {
    let swift = ["Sources", "Tests", "Benchmarks"].flatMap { SourceTree.files(under: $0) }
    let manifest = ["Package.swift"].compactMap { SourceTree.file($0) }
    let pages = SourceTree.pages
    return (swift + manifest).map { ($0.path, Prose.swift($0.text)) }
      + pages.map { ($0.path, Prose.markdown($0.text)) }
  }()

  private static func expression(_ words: [Word]) throws -> NSRegularExpression {
    try NSRegularExpression(
      pattern: "\\b(?:" + words.map(\.pattern).joined(separator: "|") + ")",
      options: .caseInsensitive)
  }

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
    ("\"SELECT RAISE(ABORT, 'it is settled') FROM witness\"", ["settled"]),
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
      let limit = "at most 500 requests" // `settle` is told to end.
      let rows = "SELECT person FROM witness told WHERE told.value = 'nobody'"
      """
    #expect(Prose.swift(source).flatMap { Self.found($0.text, expression) } == [])
    let page = "Use `a clash is settled` and the list of its own files.\n\n```\nnobody\n```\n"
    #expect(Prose.markdown(page).flatMap { Self.found($0.text, expression) } == [])
  }
}
