import JSON
import Ledger

/// The message in a redelivered edit.
///
/// It shows no more than a report does.
///
/// The org's values come from the user's own store, because values that were read for the report as
/// another user may be hidden from this one.
package struct CarriedWords: Sendable {
  let mask: ReportMask
  let verdict: Verdict
  let detail: OutcomeDetail
  let element: JSONObject
  let edited: Set<String>

  package init(
    mask: ReportMask, verdict: Verdict, detail: OutcomeDetail, element: JSONObject,
    edited: Set<String>
  ) {
    self.mask = mask
    self.verdict = verdict
    self.detail = detail
    self.element = element
    self.edited = edited
  }

  /// The JSON form, without the mask, which the pipeline has.
  package var json: JSONValue {
    [
      "verdict": .string(verdict.rawValue), "detail": detail.json, "element": .object(element),
      "edited": JSONValue(edited.sorted()),
    ]
  }

  /// Parses the JSON form; nil if it is not one.
  package init?(json: JSONValue, mask: ReportMask) {
    guard let verdict = json["verdict"]?.string.flatMap(Verdict.init(rawValue:)),
      let detail = json["detail"], let element = json["element"]?.object,
      let edited = json["edited"]?.array
    else { return nil }
    self.init(
      mask: mask, verdict: verdict, detail: OutcomeDetail(json: detail), element: element,
      edited: Set(edited.compactMap(\.string)))
  }

  /// Why the edit is open, in one or two sentences; `held` is the record in the user's store.
  package func sentence(over held: JSONObject?) -> String {
    let words = mask.words(detail, element: element)
    switch verdict {
    case .conflict:
      let fields = contested(held).map { field in
        "\(field.name) is \(shown(field.server, field.name)) in the org"
          + (edited.contains(field.name)
            ? " and \(shown(field.device, field.name)) here" : " now")
      }
      return "Not sent: the record changed in the org after this device read it."
        + (fields.isEmpty ? "" : " " + fields.joined(separator: "; ") + ".")
    // The reasons why a run does not attempt an edit do not concern the device, but the org's
    // message does.
    case .notAttempted where detail.code == nil: return "Not sent: " + verdict.meaning
    case .failed, .blocked, .exceedsUserAccess, .notAttempted:
      guard let words, !words.isEmpty else { return "Not sent: " + verdict.meaning }
      return "Not sent: " + words
    case .unconfirmed: return verdict.meaning
    default: return "Not sent: " + verdict.meaning
    }
  }

  /// The org's values that the sentence shows in full; nil if it shows none.
  package func shown(over held: JSONObject?) -> JSONObject? {
    guard verdict == .conflict else { return nil }
    var values: JSONObject = [:]
    for field in contested(held) {
      if case .value(let value) = mask.shown(field.server, of: field.name), isWhole(field) {
        values[field.name] = value
      }
    }
    return values.isEmpty ? nil : values
  }

  /// The org's values as read for the report.
  package var reported: JSONObject {
    detail.fields.reduce(into: [:]) { values, field in values[field.name] = field.server }
  }

  /// The fields in which the org's value differs from the edit's, or from what the device had read.
  private func contested(_ held: JSONObject?) -> [FieldDifference] {
    detail.fields.compactMap { field in
      guard field.server != nil, let theirs = held?[field.name], theirs != field.device else {
        return nil
      }
      var field = field
      field.server = theirs
      return field
    }
  }

  /// Whether both values of a field are shown in full.
  private func isWhole(_ field: FieldDifference) -> Bool {
    [field.server, field.device].allSatisfy {
      mask.shown($0, of: field.name).cell.count <= ReportMask.Shown.longestInLine
    }
  }

  private func shown(_ value: JSONValue?, _ field: String) -> String {
    let shown = mask.shown(value, of: field)
    if let placeholder = shown.placeholder { return placeholder.words }
    return "\"\(ReportMask.Shown.inLine(shown.cell))\""
  }
}
