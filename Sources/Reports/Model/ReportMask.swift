import JSON
import Ledger

/// What a report shows of records.
package struct ReportMask: Sendable {
  /// The fields whose values are never shown, as the pipeline file writes them.
  let names: [String]
  /// The same fields in lower case.
  private let mask: Set<String>
  /// Whether values are shown at all; the org's messages are hidden with them, because they may
  /// quote values.
  package var showValues: Bool
  /// Whether long values are replaced by the names of their files (`ReportValues`), in a report
  /// that has a directory.
  var namesFiles = false

  package init(mask: Set<String> = [], showValues: Bool = true) {
    names = mask.sorted()
    self.mask = Set(mask.map { $0.lowercased() })
    self.showValues = showValues
  }

  /// The part of a field's value that is shown.
  package func shown(_ value: JSONValue?, of field: String) -> Shown {
    guard let value else { return .unknown }
    if !showValues { return .withheld }
    return covers(value, of: field) ? .masked : .value(value)
  }

  /// A field's value, or the placeholder for one that is not shown.
  package func visible(_ value: JSONValue, of field: String) -> JSONValue {
    let shown = shown(value, of: field)
    return shown == .value(value) ? value : .string(shown.words)
  }

  /// Whether a value is never shown because of its field, or because it contains a masked field, as
  /// `BillingAddress` contains `BillingCity`.
  private func covers(_ value: JSONValue, of field: String) -> Bool {
    if mask.isEmpty { return false }
    if covers(field) { return true }
    switch value {
    case .object(let members):
      let name = field.lowercased()
      return members.contains { member in
        let part = member.name.lowercased()
        let isComponent = mask.contains { masked in
          let component = masked.hasSuffix("__s") ? masked.dropLast(3) : masked[...]
          return component.hasSuffix(part) && name.hasPrefix(component.dropLast(part.count))
        }
        return isComponent || covers(member.value, of: member.name)
      }
    case .array(let items): return items.contains { covers($0, of: field) }
    default: return false
    }
  }

  /// The file that replaces a value in a report; nil if the report has the value itself.
  func file(of value: JSONValue?, _ field: String) -> String? {
    guard namesFiles, case .value(let value) = shown(value, of: field) else { return nil }
    return ReportValues.file(of: value)
  }

  /// A value in a table's cell, or the name of its file.
  func cell(_ value: JSONValue?, of field: String) -> String {
    file(of: value, field) ?? shown(value, of: field).cell
  }

  /// Whether a field's values are never shown, by its full name or by a part of it between dots.
  private func covers(_ field: String) -> Bool {
    let name = field.lowercased()
    return mask.contains(name) || name.split(separator: ".").contains { mask.contains(String($0)) }
  }

  /// The message of a verdict as far as it may be shown, because an org quotes the values that it
  /// refuses.
  package func words(of edit: ReportEdit) -> String? { words(edit.detail, element: edit.element) }

  /// The message of an expected verdict without an element.
  ///
  /// The org's message may quote masked values; messages about undos and edits that are not
  /// attempted are attache's own.
  package func words(of planned: PlannedOutcome) -> String? {
    let (detail, verdict) = (planned.detail, planned.verdict)
    let areOurs =
      detail.code == nil && (verdict.isUndone || [.notUndone, .notAttempted].contains(verdict))
    return mask.isEmpty || areOurs ? words(detail, element: nil) : nil
  }

  /// The message of a verdict on an element.
  func words(_ detail: OutcomeDetail, element: JSONObject?) -> String? {
    guard showValues, let message = detail.message else { return nil }
    if mask.isEmpty { return message }
    var secrets: Set<String> = []
    for (name, value) in element ?? [:] {
      collect(value, isMasked: covers(value, of: name), into: &secrets)
    }
    for field in detail.fields + detail.outside {
      for case let value? in [field.base, field.device, field.entered, field.server]
      where shown(value, of: field.name) == .masked {
        collect(value, isMasked: true, into: &secrets)
      }
    }
    // The longest first, because one value may be part of another.
    return secrets.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }.reduce(message) {
      $0.replacing($1, with: "•••").replacing($1.lowercased(), with: "•••")
    }
  }

  private func collect(_ value: JSONValue, isMasked: Bool, into secrets: inout Set<String>) {
    switch value {
    case .string(let text): if isMasked, !text.isEmpty { secrets.insert(text) }
    case .number(let literal): if isMasked { secrets.insert(literal) }
    case .object(let members):
      for (name, value) in members {
        collect(value, isMasked: isMasked || covers(name), into: &secrets)
      }
    case .array(let elements):
      for value in elements { collect(value, isMasked: isMasked, into: &secrets) }
    default: break
    }
  }

  /// A value, or the reason why it is not shown.
  package enum Shown: Sendable, Hashable {
    case value(JSONValue)
    case masked
    /// Values are not shown at all.
    case withheld
    case unknown

    /// Whether a text is a placeholder for a value that is not shown.
    static func isPlaceholder(_ text: String) -> Bool {
      [masked, withheld].contains { $0.cell == text }
    }

    /// The placeholder; nil if the value is shown.
    var placeholder: Placeholder? {
      switch self {
      case .value(.null), .value(.string("")): .empty
      case .value: nil
      case .masked: .masked
      case .withheld: .withheld
      case .unknown: .unknown
      }
    }

    /// The value in a table's cell, which is empty for empty and unknown values.
    package var cell: String {
      switch self {
      case .value(.null), .unknown: ""
      case .value(.string(let text)): text
      case .value(let value): value.text
      case .masked, .withheld: words
      }
    }

    /// The maximum length of a value, in characters, in a terminal line or a message to a device.
    static let longestInLine = 200

    /// A text in a line, cut to `longestInLine`.
    static func inLine(_ text: String) -> String {
      text.count > longestInLine ? text.prefix(longestInLine) + "…" : text
    }

    /// The value in a sentence.
    package var words: String {
      switch placeholder {
      case nil: cell
      case .masked: Placeholder.masked.words
      case let placeholder?: "(\(placeholder.words))"
      }
    }
  }

  /// The placeholder for a value that is not shown; pages use their numbers.
  package enum Placeholder: Int, Sendable, CaseIterable {
    case empty, unknown, withheld, masked

    /// The text on a page.
    package var words: String {
      switch self {
      case .empty: "empty"
      case .unknown: "unknown"
      case .withheld: "not shown"
      case .masked: "•••"
      }
    }
  }
}
