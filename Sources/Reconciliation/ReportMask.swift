import JSON
import Ledger

/// What a report shows of records.
package struct ReportMask: Sendable {
  /// Fields whose values are never shown.
  package var mask: Set<String>
  /// Whether values are shown at all; the org's words go with them, as they may quote values.
  package var showValues: Bool
  /// Whether long values are named by their files (`ReportValues`): in a report that has a directory.
  var namesFiles = false

  /// Options.
  package init(mask: Set<String> = [], showValues: Bool = true) {
    self.mask = Set(mask.map { $0.lowercased() })
    self.showValues = showValues
  }

  /// What is shown of a field's value.
  package func shown(_ value: JSONValue?, of field: String) -> Shown {
    guard let value else { return .unknown }
    if !showValues { return .withheld }
    return covers(value, of: field) ? .masked : .value(value)
  }

  /// Whether a value is never shown: its field's, or one with a member of its own that is a field's, as
  /// `BillingAddress` holds what `BillingCity` does.
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

  /// The file that a report names in the place of a value; nil where the value itself stands there.
  func file(of value: JSONValue?, _ field: String) -> String? {
    guard namesFiles, case .value(let value) = shown(value, of: field) else { return nil }
    return ReportValues.file(of: value)
  }

  /// A value in a cell of a table, or the name of its file.
  func cell(_ value: JSONValue?, of field: String) -> String {
    file(of: value, field) ?? shown(value, of: field).cell
  }

  /// Says whether a field's values are never shown: by its whole name, or by a part between dots.
  private func covers(_ field: String) -> Bool {
    let name = field.lowercased()
    return mask.contains(name) || name.split(separator: ".").contains { mask.contains(String($0)) }
  }

  /// The words beside a verdict, as far as they may be shown: an org quotes what it refuses.
  package func words(of edit: ReportEdit) -> String? { words(edit.detail, element: edit.element) }

  /// The words beside a verdict that is foreseen, for which no element is at hand: the org's may quote what is
  /// masked, those about an undo and about what is held are ours.
  package func words(of planned: PlannedOutcome) -> String? {
    let (detail, verdict) = (planned.detail, planned.verdict)
    let areOurs =
      detail.code == nil && (verdict.isUndone || [.notUndone, .notAttempted].contains(verdict))
    return mask.isEmpty || areOurs ? words(detail, element: nil) : nil
  }

  /// The words beside a verdict on an element.
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
    // The longest first: one value may be a part of another.
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

  /// A value, or why it is not there.
  package enum Shown: Sendable, Hashable {
    case value(JSONValue)
    case masked
    /// Values are not shown at all.
    case withheld
    case unknown

    /// Says whether a text is what stands in the place of a value that is not shown.
    static func isPlaceholder(_ text: String) -> Bool {
      [masked, withheld].contains { $0.cell == text }
    }

    /// What stands in the place of a value; nil where there is one.
    var placeholder: Placeholder? {
      switch self {
      case .value(.null), .value(.string("")): .empty
      case .value: nil
      case .masked: .masked
      case .withheld: .withheld
      case .unknown: .unknown
      }
    }

    /// The value in a cell of a table, where nothing stands for an empty one and for one that is not known.
    package var cell: String {
      switch self {
      case .value(.null), .unknown: ""
      case .value(.string(let text)): text
      case .value(let value): value.text
      case .masked, .withheld: words
      }
    }

    /// So many characters of a value stand in a line on a terminal, or in what a device is told.
    static let longestInLine = 200

    /// A text as it stands in a line: its end is cut off where it is longer than `longestInLine`.
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

  /// What stands in the place of a value that is not shown; pages know them by their numbers.
  package enum Placeholder: Int, Sendable, CaseIterable {
    case empty, unknown, withheld, masked

    /// The words on a page.
    package var words: String {
      switch self {
      case .empty: "empty"
      case .unknown: "not known"
      case .withheld: "not shown"
      case .masked: "•••"
      }
    }
  }
}
