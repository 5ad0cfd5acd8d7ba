import JSON

extension PipelineReader {
  /// A key that has another name now.
  private struct Former {
    let section: String
    let key: String
    let name: String
    /// What its values are called now.
    var values: [String: String] = [:]
  }

  /// The keys of versions before 1.0.
  private static let former = [
    Former(section: "reconcile", key: "strict", name: "conditionalUpdates"),
    Former(
      section: "reconcile", key: "acrossSnapshots", name: "deviceConflicts",
      values: ["report": "manual", "first": "firstWins", "last": "lastWins"]),
    Former(
      section: "reconcile", key: "trust", name: "detectEdits", values: ["diff": "compare"]),
    Former(section: "reconcile", key: "nextGeneration", name: "returnOpenEdits"),
    Former(section: "reconcile", key: "quietWindowSeconds", name: "unansweredWaitSeconds"),
    Former(section: "keep", key: "basesDays", name: "issuedRecordDays"),
  ]

  /// The file without former keys and values; each is reported with the words that replace it.
  func withoutFormer(_ root: JSONNode) -> JSONNode {
    var rest = root
    for former in Self.former {
      for member in root[former.section]?.members ?? [] {
        let value = member.value.string.flatMap { former.values[$0] }
        let name = JSONText.quoted(former.name)
        if member.name == former.key {
          reader.report(
            member, "the section \(former.section) has no key \(JSONText.quoted(former.key))",
            "write \(name)" + (value.map { ": \(JSONText.quoted($0))" } ?? ""))
        } else if member.name == former.name, let value {
          reader.report(
            member.value, "\(member.value.value.text) is not a value of \(name)",
            "write \(JSONText.quoted(value))")
        } else {
          continue
        }
        rest = rest.removing([former.section, member.name])
      }
    }
    return rest
  }
}
