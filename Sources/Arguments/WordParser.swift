/// Parses the words after a command's name into its properties.
///
/// Grammar: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-ab` for two flags; `--` ends
/// the options; a lone `-` is an argument. A parameter with one value may be given only once.
struct WordParser<C: Command> {
  private let parameters = C.parameters
  private var command = C()
  private var given: Set<String> = []
  private var positionals: [String] = []
  private(set) var wantsHelp = false
  /// The global options, in the order in which they were given.
  private(set) var globals: [GivenOption] = []
  private let former: FormerWords

  init(former: FormerWords = FormerWords()) { self.former = former }

  /// Returns the command with the values of the words; nil if they ask for its help page.
  mutating func parse(_ words: [String]) throws(UsageError) -> C? {
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if word == "--" {
        positionals += words[index...]
        break
      } else if word.hasPrefix("--") {
        try long(word, words, &index)
      } else if word.hasPrefix("-"), word.count > 1, Double(word) == nil {
        try short(word, words, &index)
      } else {
        positionals.append(word)
      }
      if wantsHelp { return nil }
    }
    try assignPositionals()
    for parameter in parameters
    where parameter.isRequired && !given.contains(parameter.spelling) {
      throw UsageError("\(parameter.spelling) is missing: \(parameter.summary)")
    }
    try command.validate()
    return command
  }

  private mutating func long(
    _ word: String, _ words: [String], _ index: inout Int
  ) throws(UsageError) {
    let parts = word.dropFirst(2).split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    if name.hasPrefix("-") {
      // A word with too many dashes is neither an option's value nor an option.
      let bare = String(name.drop { $0 == "-" })
      let known = parameters.filter { !$0.kind.isPositional }.map(\.name) + ["help"]
      throw UsageError(
        "unknown option \"\(word)\"",
        hint: NearestWord.find(for: bare, among: known).map { "did you mean \"--\($0)\"?" })
    }
    if name == "help" {
      wantsHelp = true
      return
    }
    let options = parameters.filter { !$0.kind.isPositional }
    guard let parameter = options.first(where: { $0.name == name }) else {
      if let global = C.Context.globals.first(where: { $0.name == name }) {
        if global.kind == .flag, parts.count == 2 {
          throw UsageError("--\(name) takes no value", hint: "write --\(name) alone")
        }
        try give(global, value: parts.count == 2 ? String(parts[1]) : nil, words, &index)
        return
      }
      let known = options.map(\.name) + C.Context.globals.map(\.name) + ["help"]
      throw UsageError(
        "unknown option \"--\(name)\"",
        hint: former.hint(forOption: name, among: known)
          ?? NearestWord.find(for: name, among: known).map { "did you mean \"--\($0)\"?" })
    }
    if parameter.kind == .flag {
      guard parts.count == 1 else {
        throw UsageError("--\(name) takes no value", hint: "write --\(name) alone")
      }
      try give(parameter, "")
    } else if parts.count == 2 {
      try give(parameter, String(parts[1]))
    } else {
      try give(parameter, value(of: parameter, words, &index))
    }
  }

  private mutating func short(
    _ word: String, _ words: [String], _ index: inout Int
  ) throws(UsageError) {
    var rest = word.dropFirst()
    while let letter = rest.first {
      rest = rest.dropFirst()
      let parameter = parameters.first { !$0.kind.isPositional && $0.short == letter }
      guard let parameter else {
        if let global = C.Context.globals.first(where: { $0.short == letter }) {
          try give(global, value: nil, words, &index)
          continue
        }
        if letter == "h" {
          wantsHelp = true
          return
        }
        throw UsageError("unknown option \"-\(letter)\"", hint: "--help lists the options")
      }
      if parameter.kind == .flag {
        try give(parameter, "")
      } else if rest.isEmpty {
        try give(parameter, value(of: parameter, words, &index))
      } else {
        try give(parameter, String(rest))
        return
      }
    }
  }

  /// Records a global option; its value is the next word unless the option's word contains it.
  private mutating func give(
    _ global: Parameter<C.Context>, value: String?, _ words: [String], _ index: inout Int
  ) throws(UsageError) {
    let isFirst = given.insert(global.spelling).inserted
    if !isFirst, global.kind != .flag {
      throw UsageError("\(global.spelling) is given twice", hint: "give it once")
    }
    var word = value ?? ""
    if value == nil, global.kind != .flag { word = try self.value(of: global, words, &index) }
    globals.append(GivenOption(name: global.name, word: word))
  }

  /// The next word; one that looks like an option is more likely a forgotten value.
  private func value<Root>(
    of parameter: Parameter<Root>, _ words: [String], _ index: inout Int
  ) throws(UsageError) -> String {
    guard index < words.count else {
      throw UsageError("\(parameter.spelling) needs a value: \(parameter.summary)")
    }
    let word = words[index]
    if word.hasPrefix("-"), word.count > 1, Double(word) == nil {
      throw UsageError(
        "\(parameter.spelling) needs a value, and \"\(word)\" looks like an option",
        hint: word.hasPrefix("---") ? nil : "write \(parameter.spelling)=\(word) if it is the value"
      )
    }
    index += 1
    return word
  }

  private mutating func give(_ parameter: Parameter<C>, _ word: String) throws(UsageError) {
    let isFirst = given.insert(parameter.spelling).inserted
    switch parameter.kind {
    case .option where !isFirst:
      throw UsageError("\(parameter.spelling) is given twice", hint: "give it once")
    case .repeatable where isFirst:
      // Words from the user replace the default list.
      parameter.clear(&command)
    case .argument, .arguments, .option, .repeatable, .flag: break
    }
    try parameter.set(&command, word)
  }

  private mutating func assignPositionals() throws(UsageError) {
    var words = positionals[...]
    for parameter in parameters where parameter.kind.isPositional {
      if parameter.kind == .arguments {
        while let word = words.popFirst() { try give(parameter, word) }
      } else if let word = words.popFirst() {
        try give(parameter, word)
      }
    }
    if let extra = words.first {
      throw UsageError("unexpected argument \"\(extra)\"", hint: "--help shows what is expected")
    }
  }
}
