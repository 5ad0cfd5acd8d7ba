/// The decisions that are possible for an edit, by the table of verdicts.
package enum DecisionRule {
  /// The facts that the possible decisions depend on.
  package struct Subject: Sendable, Hashable {
    /// The edit's latest verdict; nil if no run has processed it.
    package var verdict: Verdict?
    /// The operation that the device performed.
    package var operation: EditOperation
    /// Whether the edit's record has an ID in the org.
    package var hasRecord: Bool
    /// Whether the row in the device's store could be read.
    package var isReadable: Bool
    /// Whether the edit's changes in the org are to be undone.
    package var isToBeUndone: Bool

    package init(
      verdict: Verdict?, operation: EditOperation, hasRecord: Bool, isReadable: Bool = true,
      isToBeUndone: Bool = false
    ) {
      (self.verdict, self.operation) = (verdict, operation)
      (self.hasRecord, self.isReadable) = (hasRecord, isReadable)
      self.isToBeUndone = isToBeUndone
    }

    /// Whether the device deleted its row.
    var deletes: Bool { operation == .delete || operation == .dropped }
  }

  /// The possible decisions, the most likely one first; empty if the edit is resolved.
  ///
  /// If the org has values to keep, `server` keeps them; otherwise `discard` discards the edit. A
  /// deletion has no fields to set.
  package static func possible(_ subject: Subject) -> [Decision.Kind] {
    guard let verdict = subject.verdict else { return [.discard] }
    if verdict.isSettled { return [] }
    // A change that is already in the org is not sent again; only the undo can be discarded.
    guard subject.isReadable, !subject.isToBeUndone else { return [.discard] }
    let kinds = verdict.traits.decisions(subject)
    return subject.deletes ? kinds.filter { $0 != .set } : kinds
  }

  /// The verdicts that permit a decision, as text; "(creates only)" follows those that permit it
  /// only for a record without an ID in the org.
  package static func verdicts(permitting kind: Decision.Kind) -> String {
    Verdict.allCases.compactMap { verdict in
      let permits = samples(of: verdict).map { possible($0).contains(kind) }
      return permits.contains(true)
        ? verdict.rawValue + (permits.first == true ? "" : " (creates only)") : nil
    }.joined(separator: ", ")
  }

  /// An update and a create with a verdict.
  private static func samples(of verdict: Verdict) -> [Subject] {
    [(.update, true), (.create, false)].map {
      Subject(verdict: verdict, operation: $0, hasRecord: $1)
    }
  }

  /// What an operator should do about an edit: the command and its possible arguments, the most
  /// likely one first; nil if nothing is needed.
  ///
  /// `pipeline` is the pipeline's name or path as used in a command.
  package static func nextStep(_ subject: Subject, in pipeline: String, edit: Int64) -> String? {
    step(subject.verdict, possible(subject), "\(pipeline) \(edit)")
  }

  /// What an operator should do about edits with a verdict: only what is possible for one of them.
  ///
  /// `EDIT` stands for an edit's number, unless `edit` is the number of the only one. Decisions that
  /// not every edit allows are named.
  package static func nextStep(
    of verdict: Verdict, for edits: Set<Subject>, edit: Int64? = nil, in pipeline: String
  ) -> String? {
    let found = Set(edits.flatMap(possible))
    let usual = union(samples(of: verdict).map(possible))
    let kinds = (usual + Decision.Kind.allCases.filter { !usual.contains($0) })
      .filter(found.contains)
    let some = kinds.filter { kind in !edits.allSatisfy { possible($0).contains(kind) } }
    let text = step(verdict, kinds, "\(pipeline) \(edit.map { String($0) } ?? "EDIT")")
    guard let text, !some.isEmpty else { return text }
    return text + " Not every one of them allows \(choices(some))."
  }

  /// The decisions that are in any of the lists.
  ///
  /// A decision that only a later list has goes before its nearest alternative.
  private static func union(_ lists: [[Decision.Kind]]) -> [Decision.Kind] {
    var kinds = lists.first ?? []
    for list in lists.dropFirst() {
      var place = kinds.endIndex
      for kind in list.reversed() {
        if let known = kinds.firstIndex(of: kind) {
          place = known
        } else {
          kinds.insert(kind, at: place)
        }
      }
    }
    return kinds
  }

  private static func step(
    _ verdict: Verdict?, _ kinds: [Decision.Kind], _ place: String
  ) -> String? {
    let isOnlyDiscarded = kinds == [.discard]
    guard let verdict,
      let words = isOnlyDiscarded ? "It can only be discarded" : verdict.traits.advice(kinds)
    else { return nil }
    if kinds.isEmpty { return verdict.isSettled ? words + "." : nil }
    return "\(words): \(command(place, kinds))."
  }

  /// The command that decides an edit; several decisions follow it as a list, so that it is not
  /// mistaken for one command with all of them.
  ///
  /// `place` is the pipeline and the edit's number.
  package static func command(_ place: String, _ kinds: [Decision.Kind]) -> String {
    let list = kinds.count > 1 ? "followed by one of: " : ""
    return "attache decide \(place) \(list)\(kinds.map(\.option).joined(separator: ", "))"
  }

  /// The options of decisions as text: "--take device, --retry or --discard".
  package static func choices(_ kinds: [Decision.Kind]) -> String {
    let options = kinds.map(\.option)
    guard options.count > 1, let last = options.last else { return options.joined() }
    return options.dropLast().joined(separator: ", ") + " or " + last
  }

  /// Why a decision is not possible, as one sentence that names the possible ones; nil if it is
  /// possible.
  package static func refusal(_ kind: Decision.Kind, of subject: Subject) -> String? {
    let possible = possible(subject)
    if possible.contains(kind) { return nil }
    guard let verdict = subject.verdict else {
      return "no run has processed it yet, so it can only be discarded (--discard)"
    }
    if subject.isToBeUndone {
      return
        "its changes in the org are to be undone; the undo can only be discarded (--discard)"
    }
    if possible.isEmpty {
      return "it is resolved (\(verdict.rawValue)), so there is nothing to decide"
    }
    return "\(kind.option) is not possible for an edit with the verdict \(verdict.rawValue); "
      + "possible: \(choices(possible))"
  }
}
