import Ledger

/// Puts the events of a record into chronological order.
///
/// Their times come from three clocks. The org's clock is the reference for runs and for their
/// requests, returns, verdicts and generations; a run's events have the time of its start. The
/// clocks of a device and of this machine may be wrong by years, so their events are placed after
/// their known causes and before their known effects. A row was edited after its device was issued
/// the generation that it came back from, and before it came back. A decision was made after the
/// verdict that it is about, and before the run that processed it did anything for it. Events with
/// the same time are ordered by cause and effect.
struct StoryOrder {
  /// The order of events with the same time.
  private enum Rank: Int {
    case edited, returned, decided, written, settled, given, editedAtOnce, decidedAtOnce
  }

  private let events: [RecordEvent]

  /// Events in any order; equal ones keep their order.
  init(of events: [RecordEvent]) { self.events = events }

  /// The events in order; those without a recorded time come first.
  func sorted() -> [RecordEvent] {
    events.enumerated()
      .map { (place: place(of: $0.element), offset: $0.offset, event: $0.element) }
      .sorted {
        ($0.place.time, $0.place.rank.rawValue, $0.offset)
          < ($1.place.time, $1.place.rank.rawValue, $1.offset)
      }
      .map(\.event)
  }

  private func place(of event: RecordEvent) -> (time: Int64, rank: Rank) {
    let time = event.began ?? event.time ?? .min
    switch event.kind {
    case .issued, .carried: return (time, .given)
    case .edited: return placeOfEdit(event, time)
    case .returned(_, let isAgain):
      return (isAgain ? time : timeOfReturn(event.edit) ?? time, .returned)
    case .decided(let decision): return placeOfDecision(decision, event.edit, time)
    case .written: return (time, .written)
    case .settled: return (time, .settled)
    }
  }

  /// When an edit was first returned, before any run processed it.
  private func timeOfReturn(_ edit: Int64?) -> Int64? {
    let own = events.filter { $0.edit == edit }
    let returned = own.compactMap { one in
      if case .returned = one.kind { one.time } else { nil }
    }.min()
    return [returned, own.compactMap(\.began).min()].compactMap(\.self).min()
  }

  /// The generation that an edit was returned from.
  private func generation(of edit: Int64?) -> Int? {
    events.lazy.compactMap { one -> Int? in
      guard one.edit == edit, case .returned(let back, isAgain: false) = one.kind else {
        return nil
      }
      return Int(back.generation)
    }.first
  }

  private func placeOfEdit(_ event: RecordEvent, _ time: Int64) -> (time: Int64, rank: Rank) {
    guard let back = timeOfReturn(event.edit), let generation = generation(of: event.edit) else {
      return (time, .edited)
    }
    if time >= back { return (back, .edited) }
    let given = events.compactMap { one -> Int64? in
      guard one.username == event.username else { return nil }
      switch one.kind {
      case .issued(let generations, _, _, _) where generations.contains(generation):
        return one.time
      case .carried(generation, _, _, _):
        return one.time
      default: return nil
      }
    }.filter { $0 <= back }.max()
    guard let given, time <= given else { return (time, .edited) }
    return given < back ? (given, .editedAtOnce) : (back, .edited)
  }

  private func placeOfDecision(
    _ decision: RecordEvent.Deciding, _ edit: Int64?, _ time: Int64
  ) -> (time: Int64, rank: Rank) {
    let own = events.filter { $0.edit == edit }
    let last = own.compactMap { one -> Int64? in
      switch one.kind {
      case .written(let write) where write.run?.id == decision.run: one.began
      case .settled(_, _, let run) where run == decision.run: one.began
      default: nil
      }
    }.min()
    // A decision that is still pending has its own time.
    guard let last else { return (time, .decidedAtOnce) }
    // The verdict that it is about was given before the run that processed it.
    let first = own.compactMap { one -> Int64? in
      guard case .settled(_, _, let run) = one.kind, run != decision.run, let time = one.began
      else { return nil }
      return time <= last ? time : nil
    }.max()
    if let first, time <= first, first < last { return (first, .decidedAtOnce) }
    return (min(time, last), .decided)
  }
}
