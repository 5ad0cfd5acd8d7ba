import Snapshots
import JSON
import Ledger
import MobileSync
import Reconciliation
import Returns
import SmartStore
import System

/// Reads the edits of validated stores, and finds the merge base of each.
extension ReturnIntake {
  /// The stores of a return that have one stamp, each with its edits.
  struct Part: Sendable {
    let stamp: Provenance
    let platform: Platform
    /// The generation that the return was issued in, if it is kept.
    let issued: GenerationRecord?
    /// Whether the issued records with its number belong to that generation.
    let hasRecords: Bool
    /// What the ledger records of it.
    var row: ReturnRow
    /// The stores that were read.
    var stores: [(store: ValidatedStore, found: StoreReading)] = []
    var unknownSoups: [String] = []
  }

  /// Reads a store of the return `name` into its part, unless it cannot have edits.
  func add(
    _ store: ValidatedStore, to part: inout Part, of name: String, open: OpenStores
  ) throws {
    part.row.marks[store.key] = store.stamp.carried
    part.unknownSoups += store.unknownSoups
    if store.isUntouched { return }
    let found = try read(store, of: part, name, open: open)
    part.stores.append((store, found))
    part.row.soupTotals.merge(found.totals) { $1 }
    part.row.compared.formUnion(found.compared)
  }

  /// Returns what the ledger records, including the unchanged ones among rows that earlier returns
  /// had as edits, because such a return may have been recorded since.
  func entry(_ part: Part, _ rows: [RowKey]) throws -> ReturnRow {
    var entry = part.row
    for (store, found) in part.stores {
      entry.edits += found.edits
      entry.witnesses += try witnesses(store, of: part, rows: rows, besides: found)
    }
    return entry
  }

  /// The soups of a return that were not issued and belong to the app.
  ///
  /// They are not read.
  static func leftAlone(by parts: [Part]) -> [String] {
    Set(parts.flatMap(\.unknownSoups)).subtracting(parts.flatMap(\.row.soupTotals.keys).map(\.soup))
      .sorted()
  }

  /// Reads the edits of a store of the return `name`.
  ///
  /// The store is `open` already, or is opened again.
  private func read(
    _ validated: ValidatedStore, of part: Part, _ name: String, open: OpenStores
  ) throws -> StoreReading {
    let settings = settings(of: validated)
    let store: Store
    if let found = open.take(validated.path) {
      store = found
      try store.renewTime()
    } else {
      store = try Store(untrusted: validated.path, proof: validated.proof)
    }
    defer { try? store.close() }
    let soups = soups(of: validated, part, settings)
    if part.hasRecords { try checkOwner(of: store, validated, soups, name) }
    func read(_ dates: IssuedDates?, _ unflagged: UnflaggedRule?) throws -> StoreReading {
      try EditReader.read(
        store: store, key: validated.key, soups: soups, issued: dates,
        recordMiB: pipeline.inbox.limits.recordMiB, unflagged: unflagged)
    }
    var reading: StoreReading
    do {
      let rule = try unflaggedRule(validated, part)
      reading = try read(try dates(validated, part), rule?.rule)
      reading.compared.formUnion(rule?.soups ?? [])
    } catch let error as SnapshotError where error.isDamage {
      reading = try read(part.issued.map { IssuedDates(made: $0.created) }, nil)
      if pipeline.reconcile.detectEdits == .compare {
        reading.warnings.append("edits without flags cannot be detected: \(error)")
      }
    }
    do {
      if part.hasRecords { try addBases(to: &reading.edits, validated, settings) }
    } catch let error as SnapshotError where error.isDamage {
      // A fault in a file of ours makes the comparison less precise, but never refuses a return.
      reading.warnings.append(
        "the issued records cannot be read, so its edits are compared as the SDK does: \(error)")
    }
    return reading
  }

  /// Returns the dates that rows were issued with, which show what the device has written.
  private func dates(_ validated: ValidatedStore, _ part: Part) throws -> IssuedDates? {
    guard let issued = part.issued else { return nil }
    let path = data.issued(validated.stamp.generation, of: validated.stamp.user)
    guard part.hasRecords, Files.exists(path) else { return IssuedDates(made: issued.created) }
    let records = try IssuedRecordReader(path: path)
    return IssuedDates(made: issued.created) { soup, id in
      let key = PrimeInput.key(validated.storeName, soup)
      return try records.records(id: id).first { $0.soup == key }?.lastModified
    }
  }

  private func witnesses(
    _ validated: ValidatedStore, of part: Part, rows: [RowKey], besides found: StoreReading
  ) throws -> [CleanRow] {
    guard rows.contains(where: { $0.store == validated.key }) else { return found.witnesses }
    let store = try Store(untrusted: validated.path, proof: validated.proof)
    defer { try? store.close() }
    return try EditReader.witnesses(
      store: store, key: validated.key,
      soups: soups(of: validated, part, settings(of: validated)), rows: rows, besides: found,
      recordMiB: pipeline.inbox.limits.recordMiB)
  }

  private func settings(of validated: ValidatedStore) -> StoreSettings? {
    pipeline.stores.first {
      $0.scope == validated.scope && $0.storeName == validated.storeName
    }
  }

  private func soups(
    of validated: ValidatedStore, _ part: Part, _ settings: StoreSettings?
  ) -> [SoupReading] {
    Set(settings?.schema.soups.map(\.soupName) ?? [])
      .union(issuedSoups(validated, part)).subtracting(validated.missingSoups)
      .sorted().map { soup($0, in: settings) }
  }

  /// The soups that the store was issued with.
  ///
  /// Edits in a soup that was removed from the configuration are reported, not lost.
  private func issuedSoups(_ validated: ValidatedStore, _ part: Part) -> Set<String> {
    let entry = part.issued?.entries(of: part.platform).first {
      $0.scope == validated.scope && $0.storeName == validated.storeName
    }
    return Set(entry?.counts.keys.map { $0 } ?? []).intersection(validated.unknownSoups)
  }

  /// Returns a soup with the members that its sync up names.
  private func soup(_ name: String, in settings: StoreSettings?) -> SoupReading {
    for sync in settings?.reconciled ?? [] {
      guard let target = sync.target.of(SyncUpTarget.self) else { continue }
      if let family = target.family {
        for member in [family.parent, family.children] where member.soupName == name {
          return SoupReading(
            soup: name, idField: member.idFieldName,
            modificationField: member.modificationDateFieldName)
        }
      } else if sync.soupName == name {
        return SoupReading(
          soup: name, idField: target.idFieldName,
          modificationField: target.modificationDateFieldName)
      }
    }
    return SoupReading(soup: name)
  }

  /// Returns the rule that detects edits without local flags; nil if the pipeline trusts the flags,
  /// or if the issued records are no longer kept.
  ///
  /// A row with its issued date was not written. A row with a later date, whose modification date
  /// is still that of the issued record, is an edit if a field that a sync up sends has a different
  /// value.
  private func unflaggedRule(
    _ validated: ValidatedStore, _ part: Part
  ) throws -> (rule: UnflaggedRule, soups: [SoupKey])? {
    let path = data.issued(validated.stamp.generation, of: validated.stamp.user)
    guard pipeline.reconcile.detectEdits == .compare, part.hasRecords, Files.exists(path) else {
      return nil
    }
    let issued = try IssuedRecordReader(path: path)
    let (key, settings) = (validated.key, settings(of: validated))
    var sent: [String: Set<String>] = [:]
    for rule in try ReconcileStage.rules(of: pipeline) where rule.soup.store == key {
      sent[rule.soup.soup, default: []].formUnion(rule.sentFields(of: .update))
    }
    let rule = UnflaggedRule(
      base: { [sent] soup, id, lastModified in
        guard sent[soup] != nil,
          let record = try issued.lookup(
            soup: PrimeInput.key(validated.storeName, soup), ids: [id])[id],
          record.lastModified != lastModified
        else { return nil }
        return try self.base(record, soup, settings, isComplete: true)
      },
      isEdit: { [sent] edit, element in
        guard let base = edit.base, base.isIssued(at: edit.modificationDate),
          !isOtherCopy(edit, base, element)
        else { return false }
        let listed = sent[edit.row.soup, default: []].sorted()
        return !FieldComparison(device: element, base: base, server: nil, listed: listed)
          .edited.isEmpty
      })
    return (rule, sent.keys.map { SoupKey(store: key, soup: $0) })
  }

  private func addBases(
    to edits: inout [Edit], _ validated: ValidatedStore, _ settings: StoreSettings?
  ) throws {
    let path = data.issued(validated.stamp.generation, of: validated.stamp.user)
    // Without it, the return is compared as the SDK does, and the verdicts say so.
    guard Files.exists(path) else { return }
    let issued = try IssuedRecordReader(path: path)
    var wanted: [String: Set<String>] = [:]
    for edit in edits {
      if let id = edit.serverID { wanted[edit.row.soup, default: []].insert(id) }
    }
    // Nothing is used from a damaged file.
    var found = edits
    for (soup, ids) in wanted {
      let records = try issued.lookup(
        soup: PrimeInput.key(validated.storeName, soup), ids: ids)
      let isComplete = settings.map { FieldNames.areAll(of: soup, in: $0) } ?? true
      for index in found.indices where found[index].row.soup == soup {
        guard let id = found[index].serverID, let record = records[id] else { continue }
        let base = try base(record, soup, settings, isComplete: isComplete)
        let isOther = isOtherCopy(
          found[index], base, (try? JSONValue(parsing: found[index].element))?.object)
        if !isOther { found[index].base = base }
      }
    }
    edits = found
  }

  /// Returns the issued values of a record with the date that the soup's sync up uses.
  ///
  /// If that is not `LastModifiedDate`, both are kept.
  private func base(
    _ record: IssuedRecord, _ soup: String, _ settings: StoreSettings?, isComplete: Bool
  ) throws -> MergeBase {
    var base = MergeBase(
      modificationDate: record.modified, lastModified: record.lastModified,
      fields: try JSONValue(parsing: record.fields).object ?? [:], isComplete: isComplete)
    let (field, own) = (self.soup(soup, in: settings).modificationField, Self.ownDate)
    if field != own {
      base.modificationDate = base.fields[field]?.string
      base.fields[own] = record.modified.map(JSONValue.string)
    }
    return base
  }

  /// Whether another date in an element without its sync up's date shows that the device has a
  /// different copy of the record by now.
  private func isOtherCopy(
    _ edit: Edit, _ base: MergeBase, _ element: @autoclosure () -> JSONObject?
  ) -> Bool {
    guard edit.modificationDate == nil, let element = element() else { return false }
    let dates = pipeline.stores.flatMap { FieldNames.dates(of: edit.row.soup, in: $0) }
    return (dates + [Self.ownDate]).contains { name in
      guard let held = element[name]?.string, let given = base.fields[name]?.string else {
        return false
      }
      return !ServerDate.isSame(held, given)
    }
  }

  private static let ownDate = TargetFields().modificationDateFieldName
}

extension ValidatedStore {
  /// The key of the store within its snapshot.
  var key: StoreKey { StoreKey(scope: scope, storeName: storeName) }
}
