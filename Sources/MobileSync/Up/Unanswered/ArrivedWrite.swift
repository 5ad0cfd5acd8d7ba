import JSON
import Salesforce
import System

/// Whether a write without a response has arrived, in an org whose automation changes what it
/// receives.
///
/// A trigger writes a name in capitals, a currency field keeps two digits, a flow advances a
/// status. Equal values are therefore not the only evidence that a write arrived: the last writer,
/// and a field that no longer has its earlier value, are evidence too.
package enum ArrivedWrite {
  /// Whether an update has changed its record, judged by the record before and now.
  ///
  /// Every field that the update changes must differ from before, at least one of them must have
  /// the value that was sent or what automation most likely makes of it, and the sender must be the
  /// last writer. The result is false for a record that has not changed since it was read, so a
  /// device that only restores capitals does not count as applied.
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

  /// The sent fields of a record that had another value when it was last known, and that now have
  /// the value that was sent or what automation most likely makes of it.
  ///
  /// It does not matter who wrote last: the record has one last writer for all of its fields.
  package static func taken(
    by record: JSONObject, since known: JSONObject, of sent: JSONObject
  ) -> [String] {
    sent.filter { name, value in
      known[name] != nil && record[name] != nil && !mayBe(known[name], of: value)
        && mayBe(record[name], of: value)
    }.map { $0.name }.sorted()
  }

  /// Whether a record has, in each of its fields that were sent, the value that was sent or what
  /// automation most likely makes of it.
  package static func holds(_ record: JSONObject, _ sent: JSONObject) -> Bool {
    let compared = sent.filter { record[$0.name] != nil }
    return compared.contains { !FieldValue.isSame($0.value, nil) }
      && compared.allSatisfy { mayBe(record[$0.name], of: $0.value) }
  }

  /// Whether a value is the one that was sent or most likely derived from it: a text with other
  /// case, white space or punctuation, a number with fewer digits, or a time without milliseconds.
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
      // An org returns 1235 as 1235.0.
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
