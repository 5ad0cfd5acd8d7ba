import JSON
import Ledger
import System

extension HTMLReport {
  /// Names that rows refer to by index.
  private struct Names {
    var list: [String] = []
    private var places: [String: Int] = [:]

    mutating func place(_ name: String) -> JSONValue {
      if let known = places[name] { return JSONValue(known) }
      places[name] = list.count
      list.append(name)
      return JSONValue(list.count - 1)
    }
  }

  /// All edits as the page's script reads them, one per line, those that need review first.
  ///
  /// A row has `n` number, `v` verdict, `o` object, `u` user, `d` the device's operation, `t` name,
  /// `r` record, `l` local ID, `e` time of the edit, `s` and `g` since when it is open and for how
  /// long, `h` sentences as markup, `f` and `x` fields inside and outside the field list, `c`
  /// possible decisions, `w` origin.
  static func data(
    _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws {
    var (users, objects, soups) = (Names(), Names(), Names())
    var (files, ways, did) = (Names(), Names(), Names())
    for user in model.edits.totals.users.map(\.name) { _ = users.place(user) }
    var bytes = Array("<script type=\"application/json\" id=\"data\">{\"rows\":[".utf8)
    var isFirst = true
    try inOrder(model) { edit, isOpen in
      var row: JSONObject = [
        "n": JSONValue(edit.number), "v": JSONValue(order.firstIndex(of: edit.verdict) ?? 0),
        "o": objects.place(model.names.label(edit.sobject ?? edit.soup)),
        "u": users.place(edit.owner),
        "d": did.place(Self.did(edit)),
      ]
      if let name = edit.name(options) { row["t"] = text(name) }
      row["r"] = edit.recordID.map(text)
      row["l"] = edit.localID.map(text)
      if edit.editedAt > 0 { row["e"] = JSONValue(edit.editedAt) }
      if isOpen {
        row["s"] = JSONValue(edit.foundAt)
        row["g"] = .string(age(model.ageDays(since: edit.foundAt)))
      }
      let reasons = reasons(edit, model, options)
      if !reasons.isEmpty { row["h"] = JSONValue(reasons) }
      if !edit.detail.fields.isEmpty { row["f"] = fields(edit.detail.fields, edit, options) }
      if !edit.detail.outside.isEmpty { row["x"] = fields(edit.detail.outside, edit, options) }
      if !edit.possible.isEmpty {
        row["c"] = .array(edit.possible.map { ways.place($0.option) })
      }
      row["w"] = [
        soups.place(edit.soup), JSONValue(edit.soupEntryID), files.place(edit.source),
        .string(edit.platform), JSONValue(edit.device), JSONValue(edit.generation),
      ]
      bytes += (isFirst ? "\n" : ",\n").utf8
      isFirst = false
      append(.object(row), to: &bytes)
      try pass(&bytes, to: sink)
    }
    var rest: JSONObject = [
      "called": .string(model.called), "instance": .string(model.names.instance),
      "columns": FieldColumn.json,
      "states": JSONValue(ReportMask.Placeholder.allCases.map(\.words)),
      "verdicts": .array(
        order.map {
          [
            "name": .string($0.rawValue), "kind": .string(kind($0)), "anchor": .string(anchor($0)),
            "org": .string(serverColumn($0).rawValue),
          ]
        }),
    ]
    for (name, names) in [
      ("users", users), ("objects", objects), ("soups", soups), ("files", files),
      ("options", ways), ("did", did),
    ] { rest[name] = .array(names.list.map(text)) }
    bytes += "\n],\n".utf8
    var tail: [UInt8] = []
    append(.object(rest), to: &tail)
    bytes += tail.dropFirst()
    bytes += "</script>\n".utf8
    try sink(bytes)
  }

  /// Every edit once, in reading order.
  static func inOrder(
    _ model: ReportModel, _ body: (ReportEdit, _ isOpen: Bool) throws -> Void
  ) throws {
    let waiting = order.filter { !$0.isSettled }
    for verdict in waiting + order.filter(\.isSettled) {
      try model.edits.forEach(where: { $0.verdict == verdict }) { try body($0, false) }
      try model.stillOpen.forEach(where: { $0.verdict == verdict }) { try body($0, true) }
    }
  }

  /// Appends JSON that cannot end the element that contains it.
  private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
    for byte in value.bytes {
      if byte == UInt8(ascii: "<") { bytes += "\\u003c".utf8 } else { bytes.append(byte) }
    }
  }

  private static func text(_ text: String) -> JSONValue { .string(HTMLText.visible(text)) }

  /// Fields as the script reads them: name, the three values, which side changed it (1 both, 2 the
  /// device, 4 the org), and the operator's value.
  private static func fields(
    _ fields: [FieldDifference], _ edit: ReportEdit, _ options: ReportMask
  ) -> JSONValue {
    let hasServer = serverColumn(fields, edit) != nil
    return .array(
      fields.map { field in
        var flags = field.isConflicting && !edit.verdict.isSettled ? 1 : 0
        if differs(field.device, field.base) { flags += 2 }
        if differs(field.server, field.base) { flags += 4 }
        var parts: [JSONValue] = [
          text(field.name), value(field.base, field.name, options),
          value(field.device, field.name, options),
          hasServer ? value(field.server, field.name, options) : .null, JSONValue(flags),
        ]
        if let entered = field.entered { parts.append(value(entered, field.name, options)) }
        return .array(parts)
      })
  }

  /// A value as text; as the start of a long text with its length and its file, if any; or the
  /// reason why it is not shown.
  private static func value(
    _ value: JSONValue?, _ name: String, _ options: ReportMask
  ) -> JSONValue {
    let shown = options.shown(value, of: name)
    if let placeholder = shown.placeholder { return JSONValue(placeholder.rawValue) }
    let cut = Cut(shown.cell)
    if !cut.rest { return text(cut.text) }
    var parts: [JSONValue] = [text(cut.text), JSONValue(cut.length)]
    if let file = options.file(of: value, name) { parts.append(.string(file)) }
    return .array(parts)
  }

  /// The start of a long text, because a page does not show whole files.
  package struct Cut {
    /// The number of characters that a page shows.
    static let limit = 2000

    package let text: String
    /// The text's full length, in characters.
    package let length: Int
    /// Whether the text was cut.
    package var rest: Bool { length > Self.limit }

    /// Cuts a text to the limit.
    package init(_ whole: String) {
      length = whole.utf8.count <= Self.limit ? whole.utf8.count : whole.unicodeScalars.count
      text =
        length <= Self.limit
        ? whole : String(String.UnicodeScalarView(whole.unicodeScalars.prefix(Self.limit)))
    }
  }
}
