import JSON
import Salesforce
import System

/// What a record shows about a write that was sent to it, in an org whose automation changes what it
/// receives.
///
/// A trigger writes a name in capitals, a currency field keeps two digits, a flow advances a
/// status. Equal values are therefore not the only evidence that a write arrived: the last writer,
/// and a field that no longer has its earlier value, are evidence too.
package enum WriteEvidence: Sendable, Hashable {
  /// The record has what was sent, or what automation most likely makes of it, and the sender wrote
  /// it last.
  case applied
  /// The record has what was sent, but another user wrote it last and may have entered the values.
  case mayBe
  /// The record has other values too, or another user wrote it last, but these sent fields got their
  /// values since they were last known to have others.
  case overwritten([String])
  /// Nothing shows that the write has reached the record.
  case notApplied

  /// Compares what a sender sent with a record.
  ///
  /// `before` is the record as read before the write; nil if unknown. `known` is its last known
  /// state since then; without it, nothing counts as overwritten.
  package init(
    of sent: JSONObject, by senderID: String?, before: JSONObject?, in record: JSONObject,
    since known: JSONObject? = nil
  ) {
    let isWhole = Self.isWhole(sent, in: record)
    let isSenders = senderID != nil && record["LastModifiedById"]?.string?.recordID18 == senderID
    let taken = known.map { Self.taken(by: record, since: $0, of: sent) } ?? []
    if isSenders, isWhole || Self.hasChanged(record, from: before, to: sent) {
      self = .applied
    } else if !taken.isEmpty {
      self = .overwritten(taken)
    } else {
      self = isWhole ? .mayBe : .notApplied
    }
  }

  /// Whether a record has what was sent, in all fields that it has.
  ///
  /// An org may have trimmed a value.
  package static func isWhole(_ sent: JSONObject, in record: JSONObject) -> Bool {
    let compared = sent.filter { record[$0.name] != nil }
    if compared.isEmpty { return sent.isEmpty }
    return compared.allSatisfy { FieldValue.isSame($0.value, record[$0.name]) }
  }

  /// Whether an update by a record's last writer has changed it, judged by the record before and now.
  ///
  /// Every field that the update changes must differ from before, and at least one of them must have
  /// the value that was sent or what automation most likely makes of it. The result is false for a
  /// record that has not changed since it was read, so a device that only restores capitals does not
  /// count as applied.
  private static func hasChanged(
    _ record: JSONObject, from before: JSONObject?, to sent: JSONObject
  ) -> Bool {
    guard let before else { return false }
    let changes = sent.filter { name, value in
      before[name] != nil && record[name] != nil && !FieldValue.isSame(value, before[name])
    }
    return !changes.isEmpty
      && changes.allSatisfy { !FieldValue.isSame(record[$0.name], before[$0.name]) }
      && changes.contains { derives(record[$0.name], from: $0.value) }
  }

  /// The sent fields of a record that had another value when it was last known, and that now have
  /// the value that was sent or what automation most likely makes of it.
  ///
  /// It does not matter who wrote last: the record has one last writer for all of its fields.
  package static func taken(
    by record: JSONObject, since known: JSONObject, of sent: JSONObject
  ) -> [String] {
    sent.filter { name, value in
      known[name] != nil && record[name] != nil && !derives(known[name], from: value)
        && derives(record[name], from: value)
    }.map { $0.name }.sorted()
  }

  /// Whether a record has, in each of its fields that were sent, the value that was sent or what
  /// automation most likely makes of it.
  package static func holds(_ record: JSONObject, _ sent: JSONObject) -> Bool {
    let compared = sent.filter { record[$0.name] != nil }
    return compared.contains { !FieldValue.isSame($0.value, nil) }
      && compared.allSatisfy { derives(record[$0.name], from: $0.value) }
  }

  /// Whether a record has, in one of its fields, a distinctive value that was sent or what automation
  /// most likely makes of it.
  static func derivesAny(of sent: JSONObject, in record: JSONObject) -> Bool {
    sent.contains { name, value in
      isDistinctive(value, record[name]) && derives(record[name], from: value)
    }
  }

  /// Whether equal values show more than chance: empty values, flags and references do not.
  static func isDistinctive(_ sent: JSONValue, _ held: JSONValue?) -> Bool {
    !FieldValue.isSame(sent, nil) && sent.bool == nil && held?.bool == nil
      && sent.string.flatMap { RecordID($0) } == nil
  }

  /// Whether a value is the one that was sent or most likely derived from it: a text with other
  /// case, white space or punctuation, a number with fewer digits, or a time without milliseconds.
  package static func derives(_ held: JSONValue?, from sent: JSONValue?) -> Bool {
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
