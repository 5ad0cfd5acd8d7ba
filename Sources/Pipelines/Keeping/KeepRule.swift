import Ledger
import System

/// Decides what may be removed, as a pure function that returns its reasons as messages.
///
/// Each kind of item is kept as long as its removal could change a verdict:
///
/// - Stores and bundles of a generation: the next prime builds on the newest one, and devices have
///   the content of the bundles. Of an older generation only `generation.json` is read, which
///   stays, and the expiry of its bundles, which is noted next to it (`PrunedGeneration`).
/// - Issued records, with that note and `generation.json`: returns of the generation are compared
///   with them. They stay while one of its bundles is valid; for `issuedRecordDays` after a device
///   could last get it (a phone restored from a backup may return an old store); while an edit that
///   came from it, or that it redelivers, is open; and for the last generation that any of the
///   user's devices returned. After that, a return is compared as the SDK does, and is reported as
///   such.
/// - `generation.json` and the note: the soups that they name distinguish the edits of a late
///   return from an app's own rows. They are small, and stay for `runsDays`.
/// - A processed return: the ledger has its edits and knows its digest. It stays while one of them
///   is open.
/// - A refused return: it is the only copy of its content. It is removed once it has been ingested
///   after all, never by age.
/// - Reports: the last one shows whether the ledger is outdated; the others are for operators.
/// - The ledger's rows stay: they record which edits came, from whom, their outcomes and the
///   records they made, which prevents sending an edit twice, however late its device returns. Only
///   the values of resolved edits are removed, except those of generations that can still be
///   compared with (`LedgerDatabase.settledEdits`).
package enum KeepRule {
  /// One day in milliseconds.
  static let day: Int64 = 24 * 60 * 60 * 1000

  /// Returns which files are removed and which are kept.
  package static func plan(_ facts: KeepFacts, _ keep: KeepSettings) -> KeepPlan {
    var plan = KeepPlan()
    for snapshot in facts.snapshots { add(snapshot, of: facts, keep: keep, to: &plan) }
    for one in facts.returned {
      guard let arrived = one.arrived else {
        plan.staying.append(item(one, because: ["the ledger does not know it"]))
        continue
      }
      if facts.now - arrived < Int64(keep.returnedDays) * day { continue }
      decide(item(one, because: open(one.openEdits, "came with it")), &plan)
    }
    for one in facts.quarantined {
      let item = KeepPlan.Item(
        kind: .quarantined, id: one.sha256, name: one.name, bytes: one.bytes,
        because: one.arrived == nil ? ["no operator has released or discarded it"] : [])
      if let ingested = one.arrived, facts.now - ingested < Int64(keep.returnedDays) * day {
        continue
      }
      decide(item, &plan)
    }
    for one in facts.reports where one.time <= past(facts.now, keep) {
      var because = open(one.openEdits, "is in it")
      if one.run == facts.lastReport {
        because.append("it is the last one, and shows which runs the ledger must know")
      }
      decide(
        KeepPlan.Item(
          kind: .report, id: one.run, name: one.run, bytes: one.bytes, because: because), &plan)
    }
    return plan
  }

  /// Returns what a return may still be compared with: generations by snapshot, and the edits that
  /// they redeliver.
  ///
  /// The ledger keeps the values of the edits that came from them.
  package static func comparable(
    _ facts: KeepFacts, _ keep: KeepSettings
  ) -> (generations: [String: Set<Int>], carried: Set<Int64>) {
    var (generations, carried): ([String: Set<Int>], Set<Int64>) = ([:], [])
    for snapshot in facts.snapshots {
      for one in snapshot.generations
      where isKept(one, of: snapshot, keep: keep) || one.damage != nil
        || !reasons(one, in: facts, keep: keep).isEmpty
      {
        generations[snapshot.id, default: []].insert(one.number)
        carried.formUnion(one.carried)
      }
    }
    return (generations, carried)
  }

  /// Returns those of the edits resolved before `past` whose values can be removed, because no
  /// return is compared with them any more.
  static func values(
    of settled: [(edit: Int64, snapshotID: String, generation: Int)], _ facts: KeepFacts,
    _ keep: KeepSettings
  ) -> [Int64] {
    let comparable = comparable(facts, keep)
    return settled.filter {
      !comparable.carried.contains($0.edit)
        && comparable.generations[$0.snapshotID]?.contains($0.generation) != true
    }.map(\.edit)
  }

  /// The time before which reports, values of resolved edits and summaries of runs are old.
  static func past(_ now: Int64, _ keep: KeepSettings) -> Int64 { now - Int64(keep.runsDays) * day }

  private static func item(_ one: KeepFacts.File, because: [String]) -> KeepPlan.Item {
    KeepPlan.Item(
      kind: .returned, id: one.sha256, name: one.name, bytes: one.bytes, because: because)
  }

  private static func decide(_ item: KeepPlan.Item, _ plan: inout KeepPlan) {
    if item.because.isEmpty { plan.going.append(item) } else { plan.staying.append(item) }
  }

  private static func add(
    _ snapshot: KeepFacts.Snapshot, of facts: KeepFacts, keep: KeepSettings,
    to plan: inout KeepPlan
  ) {
    for one in snapshot.generations where !isKept(one, of: snapshot, keep: keep) {
      let name = "generation \(one.number) of \(snapshot.name)"
      func item(_ kind: KeepPlan.Kind, _ bytes: Int64, _ because: [String]) -> KeepPlan.Item {
        KeepPlan.Item(
          kind: kind, snapshot: snapshot.id, id: String(one.number), name: name, bytes: bytes,
          because: because)
      }
      if let damage = one.damage {
        plan.staying.append(
          item(.generation, (one.storeBytes ?? 0) + (one.issuedBytes ?? 0), [damage]))
        continue
      }
      if let bytes = one.storeBytes { plan.going.append(item(.generation, bytes, [])) }
      // A device may have got it until now.
      guard let retired = one.retired else { continue }
      if one.issuedBytes == nil {
        // The names of its soups distinguish the edits of an old return from an app's own rows.
        if retired <= past(facts.now, keep),
          reasons(one, in: facts, keep: keep).isEmpty
        {
          plan.going.append(item(.record, 0, []))
        }
        continue
      }
      let because = reasons(one, in: facts, keep: keep)
      // This is the usual reason to keep it, and not worth reporting.
      if because == [Self.mayBeHeld(keep)] { continue }
      decide(item(.issued, one.issuedBytes ?? 0, because), &plan)
    }
  }

  /// Whether a generation is kept whole, because it is one of the newest or is currently
  /// distributed.
  private static func isKept(
    _ one: KeepFacts.Generation, of snapshot: KeepFacts.Snapshot, keep: KeepSettings
  ) -> Bool {
    let newest = snapshot.generations.suffix(keep.generations).first?.number ?? 0
    return one.number >= newest || one.number == snapshot.current
  }

  private static func mayBeHeld(_ keep: KeepSettings) -> String {
    "a device, or one restored from a backup, may still have it (keep.issuedRecordDays: \(keep.issuedRecordDays))"
  }

  /// Returns the reasons why an old generation's issued records are needed.
  private static func reasons(
    _ one: KeepFacts.Generation, in facts: KeepFacts, keep: KeepSettings
  ) -> [String] {
    var because: [String] = []
    if let until = one.goodUntil, until >= facts.now {
      because.append("its bundle is valid until \(Dates.utcSeconds(until))")
    }
    because += open(one.openEdits, "came from it")
    because += open(one.carried.intersection(facts.openEdits), "is redelivered in it")
    if one.isLastReturned {
      because.append(
        "it was returned last, and nothing shows that its device has a newer one")
    }
    guard let retired = one.retired, facts.now - retired >= Int64(keep.issuedRecordDays) * day
    else {
      return because.isEmpty ? [mayBeHeld(keep)] : because
    }
    return because
  }

  private static func open(_ edits: Set<Int64>, _ words: String) -> [String] {
    guard let first = edits.min() else { return [] }
    let more = edits.count > 1 ? ", and \(edits.count - 1) more" : ""
    return ["edit \(first), which is open, \(words)\(more)"]
  }
}
