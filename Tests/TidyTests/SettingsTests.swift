import Testing

@Suite struct SettingsTests {
  static func holdsSettings(_ path: String) -> Bool {
    path.hasPrefix("Sources/Pipelines/Configuration/")
      || path == "Sources/Returns/InboxLimits.swift"
  }

  struct Setting: Hashable, CustomStringConvertible {
    let type: String
    let name: String
    var description: String { "\(type).\(name)" }
  }

  /// The names of variables that hold a value of a settings type: properties, parameters, and
  /// variables bound to them.
  static let holders = [
    "Pipeline": ["pipeline"], "OrgSettings": ["org"], "BudgetSettings": ["apiBudget"],
    "LoginSettings": ["login"], "UserSelection": ["users"], "StoreSettings": ["store", "stores"],
    "PrimeSettings": ["prime"], "PackSettings": ["pack"], "Seal": ["seal"], "Sign": ["sign"],
    "Deltas": ["deltas"], "InboxSettings": ["inbox"], "InboxLimits": ["limits"],
    "ReconcileSettings": ["reconcile"], "ReportSettings": ["report"], "LimitSettings": ["limits"],
    "KeepSettings": ["keep"],
  ]

  /// Settings that only show `attache check` and messages where a value came from.
  static let places: Set<Setting> = [
    Setting(type: "Pipeline", name: "format"), Setting(type: "Pipeline", name: "directory"),
    Setting(type: "StoreSettings", name: "schemaFile"),
    Setting(type: "StoreSettings", name: "syncsFile"), Setting(type: "Seal", name: "method"),
  ]

  static let files = SourceTree.files(under: "Sources")

  static let settings: [Setting] = {
    var found: [Setting] = []
    for file in files where holdsSettings(file.path) {
      var types: [(name: String, indentation: Int)] = []
      for line in file.lines {
        let indentation = line.prefix { $0 == " " }.count
        if line.hasSuffix("}"), line.drop(while: { $0 == " " }) == "}" {
          types.removeAll { $0.indentation >= indentation }
        }
        if let match = line.firstMatch(of: /^ *package struct (\w+)/) {
          types.append((String(match.1), indentation))
        }
        guard let type = types.last, holders[type.name] != nil, indentation == type.indentation + 2,
          let match = line.firstMatch(of: /^ *package var (\w+)/), !line.hasSuffix("{"),
          !line.hasSuffix("}")
        else { continue }
        found.append(Setting(type: type.name, name: String(match.1)))
      }
    }
    return found
  }()

  /// The reads in a text: `x.y` and `x?.y` as "x.y"; after `let n = …x` or `for n in …x`, `n.y` as
  /// "x.y" too; and `$0.y` or `\.y` on a line that names x.
  static func reads(in text: String) -> Set<String> {
    var reads: Set<String> = []
    var bound: [String: Set<String>] = [:]
    for line in SourceTree.lines(of: text) where !line.drop(while: { $0 == " " }).hasPrefix("//") {
      let chains = Self.chains(of: line)
      let words = Set(chains.joined())
      for (index, chain) in chains.enumerated() {
        for (owner, member) in zip(chain, chain.dropFirst()) {
          let owners = owner == "$0" || owner == "\\" ? words : (bound[owner] ?? []).union([owner])
          for owner in owners { reads.insert(owner + "." + member) }
        }
        // The words before show what is bound: `let settings = pipeline.org`, `_ login:
        // LoginSettings`.
        guard let last = chain.last, index > 0 else { continue }
        let before = chains[index - 1]
        if before.count == 2, before[1] == ":" {
          bound[before[0], default: []].insert(last)
        } else if before.count == 2, before[1] == "=" || before[1] == "in" {
          bound[before[0], default: []].insert(last)
        }
      }
    }
    return reads
  }

  /// The chains of names on a line, `a.b?.c` as [a, b, c]; a declared name, with the token after it
  /// (`:`, `=` or `in`), is a separate chain.
  static func chains(of line: Substring) -> [[String]] {
    var chains: [[String]] = []
    var chain: [String] = []
    var word: [UInt8] = []
    var joins = false
    func isName(_ byte: UInt8) -> Bool {
      switch Unicode.Scalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
      default: false
      }
    }
    func endChain() {
      if !chain.isEmpty { chains.append(chain) }
      chain = []
    }
    func endWord() {
      guard !word.isEmpty else { return }
      if !joins { endChain() }
      let name = String(decoding: word, as: UTF8.self)
      if name == "in", let last = chains.last, last.count == 1 {
        chains[chains.count - 1] = [last[0], "in"]
      } else {
        chain.append(name)
      }
      (word, joins) = ([], false)
    }
    for byte in line.utf8 {
      if isName(byte) {
        word.append(byte)
        continue
      }
      endWord()
      let character = Unicode.Scalar(byte)
      switch character {
      case ".": joins = true
      case "?", "!": break
      case "\\":
        endChain()
        chain = ["\\"]
      case ":", "=":
        if chain.count == 1 { chain.append(String(character)) }
        endChain()
        joins = false
      default:
        // A call ends a chain of plain members.
        if character != " " { endChain() }
        joins = false
      }
    }
    endWord()
    endChain()
    return chains
  }

  /// Whether a property is read through one of the variables that hold its owner.
  static func isRead(_ setting: Setting, _ reads: Set<String>) -> Bool {
    ((holders[setting.type] ?? []) + [setting.type]).contains {
      reads.contains($0 + "." + setting.name)
    }
  }

  @Test func `the settings are found`() {
    #expect(Self.settings.count > 40)
    #expect(Self.settings.contains(Setting(type: "InboxSettings", name: "acceptExpired")))
    #expect(Self.settings.contains(Setting(type: "Seal", name: "kdfIterations")))
    #expect(Set(Self.settings.map(\.type)) == Set(Self.holders.keys))
  }

  @Test func `every setting is read by the code that runs a pipeline`() {
    func text(isInside: Bool) -> [String] {
      Self.files.filter { Self.holdsSettings($0.path) == isInside }.map(\.text)
    }
    let reads = text(isInside: false).reduce(into: Set<String>()) {
      $0.formUnion(Self.reads(in: $1))
    }
    let inside = text(isInside: true).joined(separator: "\n")
    for setting in Self.settings where !Self.places.contains(setting) {
      if Self.isRead(setting, reads) { continue }
      // A computed member is enough, if it is read outside.
      let isRead = Self.members(of: inside, that: setting.name).contains {
        Self.isRead(Setting(type: setting.type, name: $0), reads)
      }
      if !isRead { Issue.record("no code reads \(setting)") }
    }
  }

  static func members(of text: String, that name: String) -> Set<String> {
    var members: Set<String> = []
    var member: (name: String, indentation: Int)?
    for line in SourceTree.lines(of: text) where !line.isEmpty {
      let indentation = line.prefix { $0 == " " }.count
      if let open = member, indentation <= open.indentation { member = nil }
      var body = line[...]
      let words = line.split { !$0.isLetter && !$0.isNumber }
      if let place = words.firstIndex(where: { $0 == "var" || $0 == "func" }),
        place < words.count - 1, words[..<place].allSatisfy({ $0 == "package" || $0 == "static" }),
        let brace = line.firstIndex(of: "{")
      {
        member = (String(words[place + 1]), indentation)
        body = line[brace...]
      }
      guard let open = member, open.name != "json", open.name != "effectiveJSON" else { continue }
      if chains(of: body).joined().contains(name) { members.insert(open.name) }
    }
    return members
  }

  @Test func `a planted unused setting is found`() {
    let reads = Self.reads(
      in: """
        func execute(_ pipeline: Pipeline, _ limits: InboxSettings) {
          let settings = pipeline.reconcile
          use(settings.conditionalUpdates, pipeline.pack.seal?.method, limits.ratio, reader.bulkAbove)
          for store in pipeline.stores { use(store.prime) }
          // pipeline.inbox.path
        }
        """)
    func isRead(_ type: String, _ name: String) -> Bool {
      Self.isRead(Setting(type: type, name: name), reads)
    }
    #expect(isRead("ReconcileSettings", "conditionalUpdates"))
    #expect(isRead("Seal", "method"))
    #expect(isRead("InboxSettings", "ratio"))
    #expect(isRead("StoreSettings", "prime"))
    #expect(!isRead("ReconcileSettings", "bulkAbove"))
    #expect(!isRead("InboxSettings", "path"))
    #expect(!isRead("InboxSettings", "conditionalUpdates"))
  }
}
