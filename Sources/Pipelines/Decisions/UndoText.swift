import Ledger
import Reports

extension PlannedOutcome {
  /// Whether the planned outcome belongs to an undo, possible or not.
  var isUndo: Bool { detail.decision?.kind == .undo }
}

/// The text of an undo plan.
package enum UndoText {
  /// Returns one line for an edit: the values to be restored, or why none are.
  package static func line(_ edit: PlannedOutcome, _ shown: ReportMask) -> String {
    let record = [edit.sobject ?? edit.soup.soup, edit.detail.recordID ?? edit.recordID ?? ""]
    let subject = "edit \(edit.editID) (\(record.filter { !$0.isEmpty }.joined(separator: " ")))"
    let words = shown.words(of: edit)
    guard edit.verdict.isUndone else {
      return "keep \(subject): \(edit.verdict.rawValue)" + (words.map { ", \($0)" } ?? "")
    }
    var parts: [String] = []
    if edit.action == .delete { parts.append("delete the new record") }
    if edit.action == .undelete { parts.append("restore the record from the recycle bin") }
    if edit.action == .update {
      parts = edit.detail.fields.map { field in
        let value = shown.shown(field.server, of: field.name)
        return "reset \(field.name) to " + value.words
      }
    }
    if let words, edit.action != .undelete { parts.append(words) }
    let verb = edit.verdict == .undone ? "undo" : "undo in part"
    return "\(verb) \(subject): " + parts.joined(separator: "; ")
  }
}
