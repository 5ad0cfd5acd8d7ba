/// What a shell offers as the value of a parameter.
package enum ValueCompletion: Sendable, Hashable {
  case nothing
  /// File names.
  case files
  /// Directory names.
  case directories
  /// Fixed words.
  case words([String])
  /// The words that the program prints for `complete KIND` and the command line, and optionally
  /// files too.
  case asked(String, orFiles: Bool)
}

/// The description of a parameter, without the type that it belongs to.
package struct ParameterDescription: Sendable, Hashable {
  /// How a parameter is written on the command line.
  package enum Kind: Sendable, Hashable {
    /// A positional argument.
    case argument
    /// Any number of positional arguments.
    case arguments
    /// `--name value`.
    case option
    /// `--name value`, any number of times.
    case repeatable
    /// `--name`.
    case flag

    package var isPositional: Bool { self == .argument || self == .arguments }
  }

  package let kind: Kind
  /// The name: of an option without its dashes, of an argument in lower case.
  package let name: String
  /// The one-letter form of an option.
  package let short: Character?
  /// The placeholder of the value in help, in capitals.
  package let placeholder: String
  /// One line in lower case.
  package let summary: String
  package let isRequired: Bool
  /// The default as help shows it.
  package let defaultText: String?
  /// What a shell offers as the value.
  package let completion: ValueCompletion
  /// Whether several commands share it, so that the program's help page explains it.
  package var isShared = false
  /// Whether every command has it.
  package var isGlobal = false

  /// The `--help` option of every command.
  static let help = ParameterDescription(
    kind: .flag, name: "help", short: "h", placeholder: "", summary: "print this page",
    isRequired: false, defaultText: nil, completion: .nothing, isShared: true, isGlobal: true)
}

/// A parameter of a command: how it is written, and which property it sets.
package struct Parameter<Root> {
  let kind: ParameterDescription.Kind
  let name: String
  let short: Character?
  let placeholder: String
  let summary: String
  let isRequired: Bool
  let splitsCommas: Bool
  let completion: ValueCompletion
  let defaultText: (Root) -> String?
  let set: (inout Root, String) throws(UsageError) -> Void
  let clear: (inout Root) -> Void
  private(set) var isShared = false

  /// The same parameter, shared by several commands: the program's help page explains it.
  package var shared: Parameter {
    var shared = self
    shared.isShared = true
    return shared
  }

  /// A required positional argument.
  package static func argument<V: ArgumentValue>(
    _ name: String, _ summary: String, completes: ValueCompletion = .nothing,
    _ path: WritableKeyPath<Root, V>
  ) -> Parameter {
    make(.argument, name, nil, nil, summary, true, completes, V.self) { $0[keyPath: path] = $1 }
  }

  /// An optional positional argument.
  package static func argument<V: ArgumentValue>(
    _ name: String, _ summary: String, completes: ValueCompletion = .nothing,
    _ path: WritableKeyPath<Root, V?>
  ) -> Parameter {
    make(.argument, name, nil, nil, summary, false, completes, V.self) { $0[keyPath: path] = $1 }
  }

  /// The remaining positional arguments.
  package static func arguments<V: ArgumentValue>(
    _ name: String, _ summary: String, required: Bool = false,
    completes: ValueCompletion = .nothing, _ path: WritableKeyPath<Root, [V]>
  ) -> Parameter {
    make(.arguments, name, nil, nil, summary, required, completes, V.self) {
      $0[keyPath: path].append($1)
    }
  }

  /// An option with a default, or a required one.
  package static func option<V: ArgumentValue>(
    _ name: String, short: Character? = nil, _ placeholder: String, _ summary: String,
    required: Bool = false, completes: ValueCompletion = .nothing,
    _ path: WritableKeyPath<Root, V>
  ) -> Parameter {
    make(
      .option, name, short, placeholder, summary, required, completes, V.self,
      defaultText: { required ? nil : $0[keyPath: path].argumentText }
    ) { $0[keyPath: path] = $1 }
  }

  /// An optional option.
  package static func option<V: ArgumentValue>(
    _ name: String, short: Character? = nil, _ placeholder: String, _ summary: String,
    completes: ValueCompletion = .nothing, _ path: WritableKeyPath<Root, V?>
  ) -> Parameter {
    make(
      .option, name, short, placeholder, summary, false, completes, V.self,
      defaultText: { $0[keyPath: path]?.argumentText }
    ) { $0[keyPath: path] = $1 }
  }

  /// An option that may be given several times.
  ///
  /// With `commas`, one word may also contain a list.
  package static func option<V: ArgumentValue>(
    _ name: String, short: Character? = nil, _ placeholder: String, _ summary: String,
    commas: Bool = false, completes: ValueCompletion = .nothing,
    _ path: WritableKeyPath<Root, [V]>
  ) -> Parameter {
    make(
      .repeatable, name, short, placeholder, summary, false, completes, V.self, commas: commas,
      defaultText: {
        let values = $0[keyPath: path]
        return values.isEmpty ? nil : values.map(\.argumentText).joined(separator: ",")
      }, clear: { $0[keyPath: path] = [] }
    ) { $0[keyPath: path].append($1) }
  }

  /// A flag that is off by default.
  package static func flag(
    _ name: String, short: Character? = nil, _ summary: String,
    _ path: WritableKeyPath<Root, Bool>
  ) -> Parameter {
    Parameter(
      kind: .flag, name: name, short: short, placeholder: "", summary: summary, isRequired: false,
      splitsCommas: false, completion: .nothing, defaultText: { _ in nil },
      set: { root, _ in root[keyPath: path] = true }, clear: { _ in })
  }

  /// A flag that may be repeated; the property counts how often it is given.
  package static func counted(
    _ name: String, short: Character? = nil, _ summary: String,
    _ path: WritableKeyPath<Root, Int>
  ) -> Parameter {
    Parameter(
      kind: .flag, name: name, short: short, placeholder: "", summary: summary, isRequired: false,
      splitsCommas: false, completion: .nothing, defaultText: { _ in nil },
      set: { root, _ in root[keyPath: path] += 1 }, clear: { _ in })
  }

  /// The same parameter of a command that holds `Root` as a part, for options that commands share.
  package func within<Whole>(_ part: WritableKeyPath<Whole, Root>) -> Parameter<Whole> {
    let inner = self
    var whole = Parameter<Whole>(
      kind: kind, name: name, short: short, placeholder: placeholder, summary: summary,
      isRequired: isRequired, splitsCommas: splitsCommas, completion: completion,
      defaultText: { inner.defaultText($0[keyPath: part]) },
      set: { root, word throws(UsageError) in try inner.set(&root[keyPath: part], word) },
      clear: { inner.clear(&$0[keyPath: part]) })
    whole.isShared = isShared
    return whole
  }

  /// The name in errors and help: `--jobs`, `PIPELINE`.
  var spelling: String { kind.isPositional ? placeholder : "--" + name }

  func described(in blank: Root) -> ParameterDescription {
    ParameterDescription(
      kind: kind, name: name, short: short, placeholder: placeholder, summary: summary,
      isRequired: isRequired, defaultText: defaultText(blank), completion: completion,
      isShared: isShared)
  }

  /// The description of the parameter as a global option, without a default.
  var describedGlobally: ParameterDescription {
    ParameterDescription(
      kind: kind, name: name, short: short, placeholder: placeholder, summary: summary,
      isRequired: false, defaultText: nil, completion: completion, isShared: true, isGlobal: true)
  }

  private static func make<V: ArgumentValue>(
    _ kind: ParameterDescription.Kind, _ name: String, _ short: Character?,
    _ placeholder: String?, _ summary: String, _ isRequired: Bool, _ completes: ValueCompletion,
    _ type: V.Type, commas: Bool = false, defaultText: @escaping (Root) -> String? = { _ in nil },
    clear: @escaping (inout Root) -> Void = { _ in }, _ assign: @escaping (inout Root, V) -> Void
  ) -> Parameter {
    let shown = placeholder ?? name.uppercased()
    let spelling = kind.isPositional ? shown : "--" + name
    let words = V.candidates
    return Parameter(
      kind: kind, name: name, short: short, placeholder: shown, summary: summary,
      isRequired: isRequired, splitsCommas: commas,
      completion: words.isEmpty ? completes : .words(words), defaultText: defaultText,
      set: { root, word throws(UsageError) in
        let pieces =
          commas
          ? word.split(separator: ",", omittingEmptySubsequences: false).map(String.init) : [word]
        for piece in pieces {
          // An empty list would mean the default, which is everything.
          if commas, piece.isEmpty {
            throw UsageError(
              "\(spelling) \"\(word)\" has an empty name", hint: "write names with commas between")
          }
          guard let value = V(argument: piece) else {
            throw UsageError(
              "\(spelling) cannot be \"\(piece)\": it must be \(V.expectation)",
              hint: NearestWord.suggestion(for: piece, among: words))
          }
          assign(&root, value)
        }
      }, clear: clear)
  }
}
