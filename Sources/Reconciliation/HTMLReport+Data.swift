import JSON
import Ledger
import System

extension HTMLReport {
  /// Names that rows refer to by their place.
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

  /// Every edit as the page's script reads it, a line each: what waits for a person first.
  ///
  /// A row has `n` number, `v` verdict, `o` object, `u` user, `d` what was done, `t` name, `r` record, `l`
  /// the device's own id, `e` when it was edited, `s` and `g` since when it is open and how long, `h`
  /// sentences as markup, `f` and `x` fields inside and outside the field list, `c` what can be decided,
  /// `w` where it comes from.
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
      "verdicts": .array(
        order.map {
          [
            "name": .string($0.rawValue), "kind": .string(kind($0)), "anchor": .string(anchor($0)),
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

  /// Every edit once, in the order in which a person should read them.
  static func inOrder(
    _ model: ReportModel, _ body: (ReportEdit, _ isOpen: Bool) throws -> Void
  ) throws {
    let waiting = order.filter { !$0.isSettled }
    for verdict in waiting + order.filter(\.isSettled) {
      try model.edits.forEach(where: { $0.verdict == verdict }) { try body($0, false) }
      try model.stillOpen.forEach(where: { $0.verdict == verdict }) { try body($0, true) }
    }
  }

  /// JSON in which nothing can end the element that it stands in.
  private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
    for byte in value.bytes {
      if byte == UInt8(ascii: "<") { bytes += "\\u003c".utf8 } else { bytes.append(byte) }
    }
  }

  private static func text(_ text: String) -> JSONValue { .string(HTMLText.visible(text)) }

  /// Fields as the script reads them: name, the three values, whether both sides changed it (1), the device
  /// did (2), the org did (4), and what a person has entered.
  private static func fields(
    _ fields: [FieldDifference], _ edit: ReportEdit, _ options: ReportMask
  ) -> JSONValue {
    let hasServer = fields.contains { $0.server != nil } && !edit.verdict.isWritten
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

  /// A value: a text, one that is cut with its whole length and its file, if it has one, or why there is none.
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

  /// The beginning of a text: a page is no place for whole files.
  package struct Cut {
    /// How many characters a page shows.
    static let limit = 2000

    /// What is shown.
    package let text: String
    /// How many characters there are.
    package let length: Int
    /// Whether there is more.
    package var rest: Bool { length > Self.limit }

    /// As much of a text as is shown.
    package init(_ whole: String) {
      length = whole.utf8.count <= Self.limit ? whole.utf8.count : whole.unicodeScalars.count
      text =
        length <= Self.limit
        ? whole : String(String.UnicodeScalarView(whole.unicodeScalars.prefix(Self.limit)))
    }
  }
}
