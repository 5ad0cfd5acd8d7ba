import Ledger
import System

/// Says what may go: a pure function, whose reasons are words for people.
///
/// What each piece is for later, and so when it may go without a verdict becoming another one:
///
/// - Stores and bundles of a generation: the next prime goes on from the newest one, and what a bundle
///   holds is on its devices. Of an older one nothing is read any more but `generation.json`, which stays,
///   and until when its bundles are good, which is noted beside it (`PrunedGeneration`).
/// - Issued records, with that note and `generation.json`: a return of the generation is compared with them.
///   They stay while one of its bundles is good, for `issuedRecordDays` after the last device could get it (a
///   phone that was restored from a backup may hand back an old store), while an edit that came from it or
///   that it carried is open, and for the last generation that a user's device handed back from. Then a
///   return is compared as the SDK compares, and is told to be.
/// - `generation.json` and the note: by the soups that they name, the edits of a late return are told from an
///   app's own rows. They are small, and stay for `runsDays`.
/// - A return that is done with: the ledger has its edits and knows its digest. It stays while one is open.
/// - A refused return: nobody else has what is in it. It goes when it was taken in after all, never by age.
/// - Reports: the last says whether a ledger is behind; the others are for people.
/// - The ledger's rows stay: which edits came, from whom, what became of them, and which records they made
///   is what keeps an edit from being sent twice, however late its device comes back. Only the values of
///   settled edits go, those of no generation that can still be compared with (`LedgerDatabase.settledEdits`).
package enum KeepRule {
  /// A day of `keep`, in milliseconds.
  static let day: Int64 = 24 * 60 * 60 * 1000

  /// What goes and what stays of files.
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
        because: one.ingested == nil ? ["nobody has released or discarded it"] : [])
      if let ingested = one.ingested, facts.now - ingested < Int64(keep.returnedDays) * day {
        continue
      }
      decide(item, &plan)
    }
    for one in facts.reports where one.time <= past(facts.now, keep) {
      var because = open(one.openEdits, "stands in it")
      if one.run == facts.lastReport {
        because.append("it is the last, and says which runs the ledger must know")
      }
      decide(
        KeepPlan.Item(
          kind: .report, id: one.run, name: one.run, bytes: one.bytes, because: because), &plan)
    }
    return plan
  }

  /// What a return may still be compared with: generations by their snapshots, and the edits that they carry.
  ///
  /// The ledger keeps the values of edits that came from them.
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

  /// The edits whose values go, of those that were settled before `past`: no return is compared with them any more.
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

  /// The time before which reports, the values of settled edits and the summaries of runs are old.
  static func past(_ now: Int64, _ keep: KeepSettings) -> Int64 { now - Int64(keep.runsDays) * day }

  private static func item(_ one: KeepFacts.Returned, because: [String]) -> KeepPlan.Item {
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
      // What is found to be old now may have been got until now.
      guard let retired = one.retired else { continue }
      if one.issuedBytes == nil {
        // Which soups it had tells the edits of an old return from an app's own rows.
        if retired <= past(facts.now, keep),
          reasons(one, in: facts, keep: keep).isEmpty
        {
          plan.going.append(item(.record, 0, []))
        }
        continue
      }
      let because = reasons(one, in: facts, keep: keep)
      // That devices may be away for so long is the rule, and no exception to tell of.
      if because == [Self.mayBeHeld(keep)] { continue }
      decide(item(.issued, one.issuedBytes ?? 0, because), &plan)
    }
  }

  /// Whether a generation stays whole: one of the newest, or the one that devices get.
  private static func isKept(
    _ one: KeepFacts.Generation, of snapshot: KeepFacts.Snapshot, keep: KeepSettings
  ) -> Bool {
    let newest = snapshot.generations.suffix(keep.generations).first?.number ?? 0
    return one.number >= newest || one.number == snapshot.current
  }

  private static func mayBeHeld(_ keep: KeepSettings) -> String {
    "a device, or one that was restored from a backup, may hold it still (keep.issuedRecordDays: \(keep.issuedRecordDays))"
  }

  /// Why what an old generation issued is needed.
  private static func reasons(
    _ one: KeepFacts.Generation, in facts: KeepFacts, keep: KeepSettings
  ) -> [String] {
    var because: [String] = []
    if let until = one.goodUntil, until >= facts.now {
      because.append("its bundle is good until \(Dates.utcSeconds(until))")
    }
    because += open(one.openEdits, "came from it")
    because += open(one.carried.intersection(facts.openEdits), "is carried in it")
    if one.isLastReturned {
      because.append(
        "a device handed back from it last, and nothing shows that it has a newer one")
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
