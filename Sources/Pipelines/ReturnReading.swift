import Snapshots
import JSON
import Ledger
import MobileSync
import Reconciliation
import Returns
import SmartStore
import System

/// Reads the edits of validated stores and gives each its base.
struct ReturnReading: Sendable {
  let pipeline: Pipeline
  let data: DataDirectory
  /// The generation that the return was issued in, if it is kept.
  let issued: GenerationRecord?
  /// Whether the issued records that bear its number are that generation's.
  let hasRecords: Bool

  /// Reads the edits of a store of the return `name`, which is still `open` or is opened once more.
  func read(
    _ validated: ValidatedStore, of name: String, platform: Platform, open: OpenStores
  ) throws -> EditReading {
    let settings = settings(of: validated)
    let store: Store
    if let found = open.take(validated.path) {
      store = found
      try store.renewTime()
    } else {
      store = try Store(untrusted: validated.path, proof: validated.proof)
    }
    defer { try? store.close() }
    let soups = soups(of: validated, platform, settings)
    try checkOwner(of: store, validated, soups, name)
    func read(_ dates: IssuedDates?, _ unflagged: UnflaggedRule?) throws -> EditReading {
      try EditReader.read(
        store: store, key: validated.key, soups: soups, issued: dates,
        recordMiB: pipeline.inbox.limits.recordMiB, unflagged: unflagged)
    }
    var reading: EditReading
    do {
      let rule = try unflaggedRule(validated, validated.key)
      reading = try read(try dates(validated), rule?.rule)
      reading.compared.formUnion(rule?.soups ?? [])
    } catch let error as SnapshotError where error.isDamage {
      reading = try read(issued.map { IssuedDates(made: $0.created) }, nil)
      if pipeline.reconcile.detectEdits == .compare {
        reading.warnings.append("edits without flags cannot be looked for: \(error)")
      }
    }
    do {
      try addBases(to: &reading.edits, validated, settings)
    } catch let error as SnapshotError where error.isDamage {
      // A file of ours degrades a comparison; it never refuses a return.
      reading.warnings.append(
        "what it was issued cannot be read, its edits are compared as the SDK compares: \(error)")
    }
    return reading
  }

  /// The dates that rows were issued with, by which those are told that the device has written.
  private func dates(_ validated: ValidatedStore) throws -> IssuedDates? {
    guard let issued else { return nil }
    let path = data.issued(validated.stamp.generation, of: validated.stamp.user)
    guard hasRecords, Files.exists(path) else { return IssuedDates(made: issued.created) }
    let records = try IssuedRecordReader(path: path)
    return IssuedDates(made: issued.created) { soup, id in
      let key = PrimeInput.key(validated.storeName, soup)
      return try records.records(id: id).first { $0.soup == key }?.lastModified
    }
  }

  /// The clean rows of a store that was read, with those among rows that earlier returns had as edits: a return that
  /// was entered since may be one of them.
  func witnesses(
    _ validated: ValidatedStore, platform: Platform, rows: [RowKey], besides found: EditReading
  ) throws -> [CleanRow] {
    guard rows.contains(where: { $0.store == validated.key }) else { return found.witnesses }
    let store = try Store(untrusted: validated.path, proof: validated.proof)
    defer { try? store.close() }
    return try EditReader.witnesses(
      store: store, key: validated.key,
      soups: soups(of: validated, platform, settings(of: validated)), rows: rows, besides: found,
      recordMiB: pipeline.inbox.limits.recordMiB)
  }

  private func settings(of validated: ValidatedStore) -> StoreSettings? {
    pipeline.stores.first {
      $0.scope == validated.scope && $0.storeName == validated.storeName
    }
  }

  private func soups(
    of validated: ValidatedStore, _ platform: Platform, _ settings: StoreSettings?
  ) -> [SoupReading] {
    Set(settings?.schema.soups.map(\.soupName) ?? [])
      .union(issuedSoups(validated, platform)).subtracting(validated.missingSoups)
      .sorted().map { soup($0, in: settings) }
  }

  /// The soups that the store was issued with: what a device edited in one that has left the
  /// configuration since is reported, not forgotten.
  private func issuedSoups(_ validated: ValidatedStore, _ platform: Platform) -> Set<String> {
    let entry = issued?.entries(of: platform).first {
      $0.scope == validated.scope && $0.storeName == validated.storeName
    }
    return Set(entry?.counts.keys.map { $0 } ?? []).intersection(validated.unknownSoups)
  }

  /// A soup with the members that its sync up names.
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

  /// What tells edits that the app did not flag; nil where the pipeline trusts the flags, or what was
  /// issued is not kept any more.
  ///
  /// A row that bears its issued date was not written since. One that was, and whose modification date is
  /// still that of the issued record, holds an edit where a field that a sync up sends has another value.
  private func unflaggedRule(
    _ validated: ValidatedStore, _ key: StoreKey
  ) throws -> (rule: UnflaggedRule, soups: [SoupKey])? {
    let path = data.issued(validated.stamp.generation, of: validated.stamp.user)
    guard pipeline.reconcile.detectEdits == .compare, hasRecords, Files.exists(path) else {
      return nil
    }
    let issued = try IssuedRecordReader(path: path)
    let settings = settings(of: validated)
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
      isEdit: { [sent] edit in
        guard let base = edit.base, base.isIssued(at: edit.modificationDate),
          !isOtherCopy(edit, base),
          let element = (try? JSONValue(parsing: edit.element))?.object
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
    // Without it a return is compared as the SDK compares, and the verdicts say so.
    guard hasRecords, Files.exists(path) else { return }
    let issued = try IssuedRecordReader(path: path)
    var wanted: [String: Set<String>] = [:]
    for edit in edits {
      if let id = edit.serverID { wanted[edit.row.soup, default: []].insert(id) }
    }
    // Of a file that is damaged nothing is taken.
    var found = edits
    for (soup, ids) in wanted {
      let records = try issued.lookup(
        soup: PrimeInput.key(validated.storeName, soup), ids: ids)
      let isComplete = settings.map { FieldNames.areAll(of: soup, in: $0) } ?? true
      for index in found.indices where found[index].row.soup == soup {
        guard let id = found[index].serverID, let record = records[id] else { continue }
        let base = try base(record, soup, settings, isComplete: isComplete)
        if !isOtherCopy(found[index], base) { found[index].base = base }
      }
    }
    edits = found
  }

  /// What was issued of a record, dated as the soup's sync up dates it; `LastModifiedDate` is kept beside where that is
  /// another date.
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

  /// Says whether another date in an element that lacks the one of its sync up tells that the device has another copy
  /// of the record by now.
  private func isOtherCopy(_ edit: Edit, _ base: MergeBase) -> Bool {
    guard edit.modificationDate == nil,
      let element = (try? JSONValue(parsing: edit.element))?.object
    else { return false }
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
  /// Which of a snapshot's stores it is.
  var key: StoreKey { StoreKey(scope: scope, storeName: storeName) }
}
