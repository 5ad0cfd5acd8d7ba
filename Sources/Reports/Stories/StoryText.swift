import JSON
import Ledger
import System

/// A record's history as text and as JSON.
package enum StoryText {
  /// A heading and, for each event, a line followed by lines for its fields.
  package static func lines(_ story: RecordStory, _ options: ReportMask) -> [String] {
    var heading = [story.sobject ?? "record", story.recordID ?? story.localID ?? ""]
    if !story.titles.isEmpty {
      let name = story.titles.map { value($0.device, of: $0.name, options) }
      heading.append("“\(name.joined(separator: " "))”")
    }
    if story.recordID != nil, let local = story.localID {
      heading.append("(\(local) on the device)")
    }
    var lines = [heading.filter { !$0.isEmpty }.joined(separator: " "), ""]
    for event in story.events {
      let time = event.time.map(Dates.utcSeconds) ?? "at an unknown time"
      lines.append("\(time)  \(sentence(event, story, options))")
      lines += fields(of: event).map { "    " + change($0, options) }
    }
    return lines
  }

  private static func sentence(
    _ event: RecordEvent, _ story: RecordStory, _ options: ReportMask
  ) -> String {
    let user = event.username ?? ReportEdit.globalOwner
    let edit = event.edit.map { "edit \($0)" } ?? ""
    switch event.kind {
    case .issued(let generations, let soup, let modified, let syncs):
      let number =
        generations.count == 1
        ? "generation \(generations.lowerBound)"
        : "generations \(generations.lowerBound) to \(generations.upperBound)"
      let filled = syncs.isEmpty ? "" : ", filled by " + syncs.joined(separator: ", ")
      return "issued to \(user) in \(number): soup \(soup)\(filled)"
        + (modified.map { "; the record's modification date: \($0)" } ?? "")
    case .carried(let generation, let platforms, let soup, let words):
      return "\(edit) was redelivered to \(user) in generation \(generation), "
        + "\(platforms.joined(separator: " and ")): soup \(soup)"
        + (self.words(words, story, options).map { "; message in its row: \($0)" } ?? "")
    case .edited(let one, _, _, let isPruned):
      return "\(verb(one.operation)) on a device of \(user), by the device's clock: \(edit)"
        + (one.finding.map { "; it cannot be sent: \($0)" } ?? "")
        + (isPruned ? "; its values are pruned" : "")
    case .returned(let one, let isAgain):
      let again = isAgain ? " again" : ""
      let handback = one.handback.map { ", return \($0)" } ?? ""
      return "\(edit) came back\(again) in \(one.sourceName): device \(one.lineage), "
        + "\(one.platform), generation \(one.generation)\(handback)"
    case .decided(let decision):
      let became =
        switch decision.fate {
        case "done": "applied"
        case "moved": "has to be decided again, because the org's values had changed"
        case "withdrawn":
          isReplaced(event, in: story) ? "replaced by a later decision" : "no longer needed"
        default: "pending until the next reconcile"
        }
      return "\(decision.by) decided on \(edit): \(option(decision, options)); \(became)"
    case .written(let write): return written(write, edit, story, options)
    case .settled(let verdict, let detail, let run):
      let words = options.words(detail, element: story.element).map { ": " + $0 } ?? ""
      let others =
        detail.otherEdits.isEmpty
        ? "" : " (with edit \(detail.otherEdits.map(String.init).joined(separator: ", ")))"
      return "\(edit) has the verdict \(verdict.rawValue)\(others) in run \(run)\(words)"
    }
  }

  /// Whether a later decision about the same edit follows in the story.
  private static func isReplaced(_ event: RecordEvent, in story: RecordStory) -> Bool {
    guard case .decided(let decision) = event.kind, decision.run == nil, let time = event.time
    else { return false }
    return story.events.contains { other in
      guard case .decided = other.kind, other.edit == event.edit else { return false }
      return (other.time ?? 0) > time
    }
  }

  /// A decision as a command-line option, with no more of its values than a report shows.
  private static func option(_ decision: RecordEvent.Deciding, _ options: ReportMask) -> String {
    switch Decision(decision.kind, decision.values) {
    case .set(let values, let rest):
      let fields = values.map { "--set \($0.0)=\(value($0.1, of: $0.0, options))" }
      return (fields + (rest == .server ? [Decision.Kind.server.option] : [])).joined(
        separator: " ")
    case .record(let id): return "--match-record \(id)"
    default: return decision.kind.option
    }
  }

  private static func verb(_ operation: EditOperation) -> String {
    switch operation {
    case .create: "made"
    case .update: "changed"
    case .delete: "deleted"
    case .dropped: "created and deleted"
    case .synced: "sent by the device's own sync"
    }
  }

  private static func written(
    _ write: OperationRow, _ edit: String, _ story: RecordStory, _ options: ReportMask
  ) -> String {
    var text = "\(write.action.rawValue) for \(edit) as \(write.sender)"
    if write.isPresumed { text += ", which a run before the recovery may have sent" }
    if !write.payload.isEmpty {
      text += " (\(write.payload.names.sorted().joined(separator: ", ")))"
    }
    if write.attempt > 1 { text += ", sent \(write.attempt) times" }
    switch write.state {
    case .done:
      text += ": done"
      if let id = write.resultID, id != story.recordID { text += ", record \(id)" }
      if let date = write.serverDate, write.action != .delete {
        text += "; its modification date after it: \(date)"
      }
      if write.isDoubted, !write.isPresumed { text += "; its answer was lost at first" }
    case .rejected:
      let words = self.words(write.refusal.message, story, options) ?? ""
      text +=
        ": refused: \([write.refusal.code ?? "", words].filter { !$0.isEmpty }.joined(separator: ": "))"
    case .conflict: text += ": not done because the record had changed"
    case .doubt, .sent:
      text += write.isPresumed ? ": unknown whether it was sent" : ": no answer came back"
    case .dropped:
      let lost = write.isPresumed ? ": not found" : ": lost, and considered to have done nothing"
      text += write.isDoubted ? lost : ": not sent"
    case .planned: text += ": planned"
    }
    return text
  }

  /// A message that quotes the record, with no more of it than a report shows.
  private static func words(
    _ message: String?, _ story: RecordStory, _ options: ReportMask
  ) -> String? {
    options.words(.because(message), element: story.element)
  }

  private static func fields(of event: RecordEvent) -> [FieldDifference] {
    switch event.kind {
    case .edited(_, _, let fields, _): fields
    case .settled(let verdict, let detail, _) where !verdict.isSettled: detail.fields
    default: []
    }
  }

  private static func change(_ field: FieldDifference, _ options: ReportMask) -> String {
    var text = "\(field.name): "
    if field.base != nil, field.base != field.device {
      text += value(field.base, of: field.name, options) + " → "
    }
    text += value(field.device, of: field.name, options)
    if let entered = field.entered {
      text += "; entered: " + value(entered, of: field.name, options)
    }
    if field.server != nil {
      text += "; the org has " + value(field.server, of: field.name, options)
      if field.isOnlyOrgChange { text += ", and only the org changed it" }
    }
    return text
  }

  private static func value(
    _ value: JSONValue?, of field: String, _ options: ReportMask
  ) -> String {
    ReportMask.Shown.inLine(options.shown(value, of: field).words)
  }

  // MARK: JSON

  /// The history as a document: the record, and its events with the same texts.
  package static func json(_ story: RecordStory, _ options: ReportMask) -> JSONValue {
    var object = JSONObject()
    object["recordId"] = story.recordID.map { .string($0) }
    object["localId"] = story.localID.map { .string($0) }
    object["sobject"] = story.sobject.map { .string($0) }
    object["events"] = .array(
      story.events.map { event in
        var one: JSONObject = [
          "kind": .string(kind(event)), "words": .string(sentence(event, story, options)),
        ]
        one["time"] = event.time.map { .string(Dates.utc($0)) }
        one["user"] = event.username.map { .string($0) }
        one["edit"] = event.edit.map { JSONValue($0) }
        let fields = fields(of: event)
        if !fields.isEmpty { one["fields"] = .array(fields.map { JSONReport.field($0, options) }) }
        return .object(one)
      })
    return .object(object)
  }

  private static func kind(_ event: RecordEvent) -> String {
    switch event.kind {
    case .issued: "issued"
    case .carried: "carried"
    case .edited: "edited"
    case .returned: "returned"
    case .decided: "decided"
    case .written: "written"
    case .settled: "settled"
    }
  }
}
