import JSON
import MobileSync

/// The outcome of one soup in one sync.
package struct SoupCount: Sendable, Hashable {
  package var store: String
  package var sync: String
  package var soup: String
  /// The number of fetched records.
  package var fetched = 0
  /// The number of elements inserted or replaced.
  package var written = 0
  /// The number of records that the store already had, byte for byte.
  package var unchanged = 0
  /// The number of elements removed because the org no longer returns them.
  package var ghosts = 0
  /// The number of records whose locally changed element was kept.
  package var skipped = 0
  /// The IDs that the org listed but did not return; existing elements are kept.
  package var unreadable: [String] = []
  /// The number of records that occurred twice.
  package var doubles = 0
  /// The number of elements in the soup after the sync.
  package var total = 0
}

extension SoupCount {
  mutating func add(_ other: SoupCount) {
    fetched += other.fetched
    written += other.written
    unchanged += other.unchanged
    skipped += other.skipped
    doubles += other.doubles
  }
}

extension SoupCount {
  package var json: JSONValue {
    [
      "store": .string(store), "sync": .string(sync), "soup": .string(soup),
      "fetched": JSONValue(fetched), "written": JSONValue(written),
      "unchanged": JSONValue(unchanged), "ghosts": JSONValue(ghosts),
      "skipped": JSONValue(skipped), "unreadable": JSONValue(unreadable),
      "doubles": JSONValue(doubles), "total": JSONValue(total),
    ]
  }

  package init(_ reader: MemberReader) throws(SnapshotError) {
    self.init(
      store: try reader.text("store"), sync: try reader.text("sync"),
      soup: try reader.text("soup"), fetched: try reader.integer("fetched"),
      written: try reader.integer("written"), unchanged: try reader.integer("unchanged"),
      ghosts: try reader.integer("ghosts"), skipped: try reader.integer("skipped"),
      unreadable: try reader.texts("unreadable"), doubles: try reader.integer("doubles"),
      total: try reader.integer("total"))
  }
}

/// The outcome of a prime.
package struct PrimeOutcome: Sendable {
  /// Whether any file was written.
  package var changed = false
  /// The outcome of each soup, in the order of the syncs.
  package var soups: [SoupCount] = []
  /// The cursors for the next run, by store and sync.
  package var cursors: [String: Int64] = [:]
  /// The stamps for the next run, by store and soup.
  package var stamps: [String: [String: Int64]] = [:]
  /// Warnings for the operator.
  package var warnings: [String] = []
  /// Whether more records would have been removed than the guard allows; they were kept.
  package var guardTripped = false
  /// Whether a briefcase rule failed in the org, so that records may be missing.
  package var hadRuleErrors = false
  /// Whether records are missing or outdated because the org could not return them.
  ///
  /// A device that continues from the stores' cursors requests them.
  package var isIncomplete: Bool { hadRuleErrors || soups.contains { !$0.unreadable.isEmpty } }
  /// The syncs (`PrimeInput.key`) that listed all IDs in this run.
  package var listed: Set<String> = []
  /// The syncs (`PrimeInput.key`) for which the guard kept records that the org no longer returns.
  ///
  /// A list of all IDs shows them again; a query of recent deletions does not.
  package var refused: Set<String> = []
  /// The states in each store's `syncs_soup`, by the name of the store.
  package var syncStates: [String: [SyncState]] = [:]

  package init() {}

  /// Adds to the outcome of a soup in a sync.
  mutating func add(_ count: SoupCount) {
    let place = soups.firstIndex {
      $0.store == count.store && $0.sync == count.sync && $0.soup == count.soup
    }
    if let place { soups[place].add(count) }
  }

  mutating func add(_ other: PrimeOutcome) {
    changed = changed || other.changed
    soups += other.soups
    cursors.merge(other.cursors) { $1 }
    stamps.merge(other.stamps) { $1 }
    warnings += other.warnings
    guardTripped = guardTripped || other.guardTripped
    hadRuleErrors = hadRuleErrors || other.hadRuleErrors
    listed.formUnion(other.listed)
    refused.formUnion(other.refused)
    syncStates.merge(other.syncStates) { $1 }
  }
}

extension PrimeOutcome {
  /// The JSON form, without the stamps and the states, which are in the generation.
  package var json: JSONValue {
    var cursors: JSONObject = [:]
    for (key, cursor) in self.cursors.sorted(by: { $0.key < $1.key }) {
      cursors[key] = JSONValue(cursor)
    }
    return [
      "changed": .bool(changed), "soups": .array(soups.map(\.json)),
      "cursors": .object(cursors), "warnings": JSONValue(warnings),
      "guardTripped": .bool(guardTripped), "hadRuleErrors": .bool(hadRuleErrors),
      "listed": JSONValue(listed.sorted()), "refused": JSONValue(refused.sorted()),
    ]
  }

  package init(_ reader: MemberReader) throws(SnapshotError) {
    changed = try reader.flag("changed")
    for soup in try reader.items("soups") { soups.append(try SoupCount(soup)) }
    for (key, cursor) in try reader.member("cursors").json.object ?? [:] {
      guard let cursor = cursor.int else { throw reader.wrong("cursors") }
      cursors[key] = cursor
    }
    warnings = try reader.texts("warnings")
    guardTripped = try reader.flag("guardTripped")
    hadRuleErrors = try reader.flag("hadRuleErrors")
    listed = Set(try reader.texts("listed"))
    refused = Set(try reader.texts("refused"))
  }
}
