import JSON

/// Parses formulas with their operators and the functions of `FormulaFunctions`.
struct FormulaParser {
  private let tokens: [FormulaToken]
  private let object: ObjectSchema
  private let catalog: Catalog
  private var index = 0
  private var depth = 0
  /// The maximum nesting depth of formulas.
  private static let deepest = 64

  static func parse(_ text: String, of object: ObjectSchema, in catalog: Catalog)
    throws(FormulaError) -> Formula
  {
    var parser = FormulaParser(
      tokens: try FormulaLexer.tokens(of: text), object: object, catalog: catalog)
    let formula = try parser.operation(0)
    guard parser.token.kind == .end else { throw parser.unexpected() }
    try refusePicklist(formula, in: nil, parser.token.place)
    return formula
  }

  private init(tokens: [FormulaToken], object: ObjectSchema, catalog: Catalog) {
    self.tokens = tokens
    self.object = object
    self.catalog = catalog
  }

  private var token: FormulaToken { tokens[min(index, tokens.count - 1)] }

  /// The operators, in ascending order of precedence.
  private static let operators: [[String]] = [
    ["||"], ["&&"], ["=", "==", "!=", "<>"], ["<", "<=", ">", ">="], ["+", "-", "&"], ["*", "/"],
  ]

  /// Operators with a second spelling.
  private static let spellings = ["==": "=", "<>": "!=", "||": "OR", "&&": "AND"]

  private mutating func operation(_ level: Int) throws(FormulaError) -> Formula {
    guard level < Self.operators.count else { return try operand() }
    var left = try operation(level + 1)
    while case .symbol(let sign) = token.kind, Self.operators[level].contains(sign) {
      let place = token.place
      index += 1
      let right = try operation(level + 1)
      let name = Self.spellings[sign] ?? sign
      for side in [left, right] { try Self.refusePicklist(side, in: name, place) }
      left = .call(name, [left, right])
    }
    return left
  }

  private mutating func operand() throws(FormulaError) -> Formula {
    depth += 1
    defer { depth -= 1 }
    let here = token
    guard depth <= Self.deepest else {
      throw FormulaError(
        message: "the formula is nested too deeply", fix: "nest at most \(Self.deepest) levels",
        place: here.place)
    }
    index += 1
    switch here.kind {
    case .number(let value): return .constant(.number(value))
    case .text(let value): return .constant(.text(value))
    case .symbol("("):
      let inner = try operation(0)
      try expect(")")
      return inner
    case .symbol("-"): return .call("-", [.constant(.number(0)), try operand()])
    case .symbol("!"): return .call("NOT", [try operand()])
    case .name(let name): return try named(name, at: here.place)
    default:
      index -= 1
      throw unexpected()
    }
  }

  private mutating func named(_ name: String, at place: Int) throws(FormulaError) -> Formula {
    if token.kind == .symbol("(") { return try call(name, at: place) }
    switch name.uppercased() {
    case "TRUE": return .constant(.bool(true))
    case "FALSE": return .constant(.bool(false))
    case "NULL": return .constant(.null)
    default: return .field(try field(name, at: place))
    }
  }

  private mutating func call(_ given: String, at place: Int) throws(FormulaError) -> Formula {
    let name = given.uppercased()
    guard let counts = FormulaFunctions.arguments[name] else {
      throw FormulaError(
        message: "the local org has no function \(given)",
        fix: ConfigurationReader.oneOf(FormulaFunctions.names, near: name), place: place)
    }
    index += 1
    var arguments: [Formula] = []
    if token.kind != .symbol(")") {
      repeat {
        let start = token.place
        let argument = try operation(0)
        try Self.refusePicklist(argument, in: name, start)
        arguments.append(argument)
      } while take(",")
    }
    try expect(")")
    guard counts.contains(arguments.count) else {
      let wanted =
        counts.count == 1
        ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
      throw FormulaError(
        message: "\(name) has \(arguments.count) arguments", fix: "write \(wanted)",
        place: place)
    }
    if FormulaFunctions.ofFields.contains(name) {
      guard case .field(let field)? = arguments.first, field.source == .record, field.steps.isEmpty
      else {
        throw FormulaError(
          message: "\(name) requires a field of the record", fix: "name a field", place: place)
      }
    }
    return .call(name, arguments)
  }

  // MARK: Fields

  private func field(_ path: String, at place: Int) throws(FormulaError) -> FormulaField {
    var parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var source = FormulaField.Source.record
    var current = object
    if let first = parts.first, first.hasPrefix("$") {
      let sources: [(FormulaField.Source, String)] = [(.user, "User"), (.profile, "Profile")]
      guard let found = sources.first(where: { $0.0.rawValue.lowercased() == first.lowercased() }),
        let schema = catalog.object(found.1)
      else {
        throw FormulaError(
          message: "the local org has no \(first)", fix: "write $User or $Profile", place: place)
      }
      (source, current) = (found.0, schema)
      parts.removeFirst()
    }
    let name = parts.popLast() ?? ""
    var steps: [FieldSchema] = []
    for part in parts {
      guard let lookup = current.lookup(relationship: part), !lookup.isPolymorphic,
        let parent = lookup.referenceTo.first.flatMap({ catalog.object($0) })
      else {
        throw FormulaError(
          message: "\(current.name) has no relationship \(part) to one object",
          fix: ConfigurationReader.oneOf(
            current.fields.compactMap(\.relationshipName), near: part), place: place)
      }
      steps.append(lookup)
      current = parent
    }
    guard let field = current.field(name), !field.isCompound else {
      throw FormulaError(
        message: "\(current.name) has no field \(name)",
        fix: ConfigurationReader.oneOf(
          current.fields.filter { !$0.isCompound }.map(\.name), near: name), place: place)
    }
    return FormulaField(source: source, steps: steps, object: current.name, field: field)
  }

  /// Rejects a picklist outside the functions that accept one, as an org does.
  private static func refusePicklist(_ formula: Formula, in function: String?, _ place: Int)
    throws(FormulaError)
  {
    guard case .field(let named) = formula,
      named.field.type == .picklist || named.field.type == .multipicklist,
      !(function.map(FormulaFunctions.ofPicklists.contains) ?? false)
    else { return }
    throw FormulaError(
      message: "\(named.field.name) is a picklist, which only certain functions accept",
      fix: "write TEXT(\(named.field.name)), or ISPICKVAL(\(named.field.name), \"…\")",
      place: place)
  }

  // MARK: Tokens

  private mutating func take(_ symbol: String) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    index += 1
    return true
  }

  private mutating func expect(_ symbol: String) throws(FormulaError) {
    guard take(symbol) else { throw unexpected("write \(symbol) here") }
  }

  private func unexpected(_ fix: String = "write a value, a field or a function") -> FormulaError {
    let found =
      switch token.kind {
      case .end: "end of the formula"
      case .name(let name): name
      case .text(let text): JSONText.quoted(text)
      case .number(let number): FormulaValue.number(number).text
      case .symbol(let symbol): symbol
      }
    return FormulaError(message: "unexpected \(found)", fix: fix, place: token.place)
  }
}
