import JSON
import Salesforce
import System

/// Whether a write without an answer has arrived, where an org's own rules make something else of what it is sent.
///
/// A trigger writes a name in capitals, a currency field keeps two digits, a flow moves a status on. So the values that
/// were sent are not all that shows that a write arrived: who wrote last, and that a field holds no longer what it held
/// before, do so too.
package enum ArrivedWrite {
  /// Says whether an update has changed its record, by what that held before and holds now.
  ///
  /// Every field that it was to change holds something else than before, at least one of them what was sent, or what
  /// rules most likely make of that; and its sender wrote last. It never holds for a record that has not changed since it
  /// was read: a device that only wants capitals back is not taken for one that has them.
  package static func hasChanged(
    _ record: JSONObject, by senderID: String?, from before: JSONObject?, to sent: JSONObject
  ) -> Bool {
    guard let before, let senderID, record["LastModifiedById"]?.string?.recordID18 == senderID
    else { return false }
    let changes = sent.filter { name, value in
      before[name] != nil && record[name] != nil && !FieldValue.isSame(value, before[name])
    }
    return !changes.isEmpty
      && changes.allSatisfy { !FieldValue.isSame(record[$0.name], before[$0.name]) }
      && changes.contains { mayBe(record[$0.name], of: $0.value) }
  }

  /// Says whether a record holds what was sent, or what rules most likely make of it, in every field that it has.
  package static func holds(_ record: JSONObject, _ sent: JSONObject) -> Bool {
    let compared = sent.filter { record[$0.name] != nil }
    return compared.contains { !FieldValue.isSame($0.value, nil) }
      && compared.allSatisfy { mayBe(record[$0.name], of: $0.value) }
  }

  /// Says whether a value is what was sent, or most likely made of it: a text in other letters, blanks or signs, a
  /// number of fewer digits, a moment without its milliseconds.
  package static func mayBe(_ held: JSONValue?, of sent: JSONValue?) -> Bool {
    if FieldValue.isSame(sent, held) { return true }
    switch (held, sent) {
    case (.string(let held)?, .string(let sent)?):
      if let one = Dates.milliseconds(iso8601: held), let other = Dates.milliseconds(iso8601: sent)
      {
        return one / 1000 == other / 1000
      }
      let letters = bare(sent)
      return !letters.isEmpty && letters == bare(held)
    case (.number(let held)?, .number(let sent)?): return isRounded(held, of: sent)
    default: return false
    }
  }

  private static func bare(_ text: String) -> String {
    String(text.lowercased().filter { $0.isLetter || $0.isNumber })
  }

  private static func isRounded(_ held: String, of sent: String) -> Bool {
    func decimals(_ literal: String) -> Int? {
      if literal.contains(where: { $0 == "e" || $0 == "E" }) { return nil }
      guard let point = literal.firstIndex(of: ".") else { return 0 }
      // An org writes 1235 as 1235.0.
      var digits = literal[literal.index(after: point)...]
      while digits.last == "0" { digits.removeLast() }
      return digits.count
    }
    guard let one = Double(held), let other = Double(sent), let kept = decimals(held),
      let given = decimals(sent), kept < given
    else { return false }
    var unit = 1.0
    for _ in 0..<kept { unit /= 10 }
    return abs(one - other) <= unit * 0.500_001
  }
}
