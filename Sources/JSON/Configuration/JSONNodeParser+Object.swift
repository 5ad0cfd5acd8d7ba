extension JSONNodeParser {
  /// The members of the object whose brace is at the current position.
  mutating func object(path: String, depth: Int) throws(Stop) -> [JSONNode.Member] {
    let start = place
    var members: [JSONNode.Member] = []
    advance()
    try skipSpace()
    if current == "}" {
      advance()
      return members
    }
    while true {
      try skipSpace()
      let namePlace = place
      let (name, hasColon) = try memberName(opened: start)
      if let first = members.first(where: { $0.name == name }) {
        report(
          "\(JSONText.quoted(name)) appears twice in one object",
          "keep one of them; the other is on line \(first.nameLine)", at: namePlace)
      }
      if !hasColon { try colon(after: name) }
      let node = try value(path: Self.path(path, name), depth: depth + 1)
      members.append(
        JSONNode.Member(
          name: name, nameLine: namePlace.line, nameColumn: namePlace.column, value: node))
      guard try separator(closing: "}", opened: start) else { return members }
    }
  }

  /// The path of a member: `a.b`, or `a["b c"]` if the name is not a plain word.
  static func path(_ parent: String, _ name: String) -> String {
    let isWord =
      !name.isEmpty
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" || $0 == "-" }
    if !isWord { return "\(parent)[\(JSONText.quoted(name))]" }
    return parent.isEmpty ? name : "\(parent).\(name)"
  }

  /// A name, and whether the colon after it was consumed with it.
  private mutating func memberName(opened: Place) throws(Stop) -> (String, hasColon: Bool) {
    let start = place
    guard let scalar = current else {
      throw stop(
        "the file ends inside the object that opens at \(opened.text)",
        "close it with }")
    }
    if Quote(opening: scalar) != nil {
      let read = try string(isName: true)
      return (read.text, read.tookColon)
    }
    guard scalar.properties.isAlphabetic || scalar == "_" || scalar == "$" else {
      throw stop("a member name cannot start with \(Self.quoted(scalar))", "write \"name\": value")
    }
    var name = ""
    while let scalar = current,
      scalar.properties.isAlphabetic || "0123456789_$-".unicodeScalars.contains(scalar)
    {
      name.unicodeScalars.append(scalar)
      advance()
    }
    report("this name has no quotes", "write \(JSONText.quoted(name))", at: start)
    return (name, false)
  }

  private mutating func colon(after name: String) throws(Stop) {
    let end = place
    try skipSpace()
    switch current {
    case ":": advance()
    case "=":
      report("= is not allowed after a name", "write a colon")
      advance()
      if current == ">" { advance() }
    case nil, "}", ",":
      throw stop(
        "the name \(JSONText.quoted(name)) has no value", "write \(JSONText.quoted(name)): value",
        at: end)
    default:
      report("a colon is missing after \(JSONText.quoted(name))", "write a colon", at: end)
    }
  }
}
