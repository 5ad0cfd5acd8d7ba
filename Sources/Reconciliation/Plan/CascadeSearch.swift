import JSON
import Ledger
import MobileSync
import Salesforce

/// Finds the edits that write below records to be deleted.
///
/// The records of all edits are resolved first, whatever names them: an ID, the ID of a record that
/// was recreated since, an external ID, a decision, or the local ID of a new record.
struct CascadeSearch {
  private let state: LedgerDatabase
  private let access: RecordReader
  private let remade: RemadeRecords
  private let rules: [ReconciledSync]
  private let writers: [CascadeWriter]
  /// By object, in lower case: the references to records with which the org deletes a record of the
  /// object.
  private var fields: [String: Set<String>] = [:]
  /// The intermediate objects, in lower case, by ID prefix.
  private var between: [String: String] = [:]
  /// The names of objects as read, by their lower-case form.
  private var names: [String: String] = [:]
  /// By record of the org or new record: the records with which the org deletes it, by field.
  private var known: [String: [String: String]] = [:]
  /// By lineage and record: the same after the device's edit of that record.
  private var moved: [Int64: [String: Set<String>]] = [:]
  /// The records of new rows with the external ID of a record, by creation.
  private var found: [Int64: String] = [:]
  /// The records that were queried.
  private var asked: Set<String> = []

  /// The maximum depth of records below each other.
  private static let levels = 5

  init(
    _ state: LedgerDatabase, _ access: RecordReader, _ remade: RemadeRecords,
    _ rules: [ReconciledSync], _ writers: [CascadeWriter]
  ) {
    (self.state, self.access, self.remade, self.rules) = (state, access, remade, rules)
    self.writers = writers.map { writer in
      // A family determines the objects of its records, whatever the elements say.
      var writer = writer
      let rule = rules.first { $0.soup == writer.soup }
      writer.objectName = rule?.member?.sobjectType ?? writer.objectName
      return writer
    }
  }

  /// The edits that write below the records of some deletions, each with all records above its own.
  nonisolated(nonsending) mutating func below(
    _ deleted: Set<String>, _ deletions: [OpenEdit]
  ) async throws -> [(writer: CascadeWriter, above: RecordsAbove)] {
    for name in deletions.compactMap(\.sobject) { names[name.lowercased()] = name }
    try await learn(Set(deletions.compactMap { $0.sobject?.lowercased() }))
    var concerned = writers.filter { fields[$0.sobject] != nil }
    if concerned.isEmpty { return [] }
    let edits = try state.edits(.numbered(Set(concerned.map(\.edit)))).byNumber
    for index in concerned.indices {
      concerned[index].add(edits[concerned[index].edit])
    }
    try await resolve(&concerned)
    for (sobject, group) in Dictionary(grouping: concerned, by: \.sobject) {
      try await read(sobject, Set(group.compactMap(\.recordID)))
    }
    var direct: [Direct] = []
    for writer in concerned { direct.append(try await parents(of: writer)) }
    for (writer, parents) in zip(concerned, direct) {
      if let id = writer.recordID {
        if let moves = parents.moves { moved[writer.lineage, default: [:]][id] = moves }
      } else if let creation = writer.creation {
        known[Self.name(ofNew: creation)] = Dictionary(
          uniqueKeysWithValues: parents.onDevice.map { ($0, $0) })
      }
    }
    try await read(from: zip(concerned, direct).map { ($1, $0.lineage) })
    var found: [(CascadeWriter, RecordsAbove)] = []
    for (writer, parents) in zip(concerned, direct) {
      var above = RecordsAbove(
        inOrg: try await current(closure(parents.inOrg)),
        onDevice: try await current(closure(parents.onDevice, of: writer.lineage)))
      if let shown = parents.shown {
        above.shown = try await current(closure(shown, of: writer.lineage))
      }
      if deleted.isDisjoint(with: above.inOrg + above.onDevice) { continue }
      try await addIssued(writer, &above)
      found.append((writer, above))
    }
    return found
  }

  /// Adds what the device was issued above a record, if that is known.
  private nonisolated(nonsending) mutating func addIssued(
    _ writer: CascadeWriter, _ above: inout RecordsAbove
  ) async throws {
    guard let id = writer.recordID, let edit = writer.openEdit, let base = edit.base else { return }
    let inOrg = known[id] ?? [:]
    var issued: Set<String> = []
    for field in fields[writer.sobject] ?? [] {
      guard base.knows(field) else {
        if let parent = inOrg[field] { issued.insert(parent) }
        continue
      }
      let parent = try await referent(base.fields[field] ?? .null, of: writer)
      if let parent { issued.insert(parent) }
      if parent != inOrg[field], !Self.moves(edit, writer, field) { above.unmoved.insert(field) }
    }
    try await read(from: [(Direct(inOrg: issued, onDevice: []), writer.lineage)])
    above.issued = try await current(closure(issued))
  }

  /// Reads all records above some records, also above those to be deleted: two of them may be above
  /// each other.
  private nonisolated(nonsending) mutating func read(
    from direct: [(parents: Direct, lineage: Int64)]
  ) async throws {
    for _ in 0..<Self.levels {
      let reached = Set(
        direct.flatMap { parents, lineage in
          closure(parents.inOrg) + closure(parents.onDevice, of: lineage)
            + closure(parents.shown ?? [], of: lineage)
        })
      let unknown = reached.subtracting(asked)
      let groups = Dictionary(grouping: unknown) { between[String($0.prefix(3))] ?? "" }
      if groups.keys.allSatisfy(\.isEmpty) { break }
      for (sobject, ids) in groups where !sobject.isEmpty { try await read(sobject, Set(ids)) }
    }
  }

  // MARK: the records of the edits

  /// Replaces the IDs of recreated records, and finds the records that creates name by an external
  /// ID.
  private nonisolated(nonsending) mutating func resolve(
    _ writers: inout [CascadeWriter]
  ) async throws {
    try await remade.learn(Set(writers.compactMap(\.recordID)))
    var keyed: [UpsertKey: [(index: Int, value: String)]] = [:]
    for index in writers.indices {
      if let id = writers[index].recordID {
        writers[index].recordID = try await remade.current(id)
      } else if let rule = rules.first(where: { $0.soup == writers[index].soup }),
        let (field, value) = rule.externalKey(of: writers[index].element, .create)
      {
        let key = UpsertKey(sobject: writers[index].sobject, field: field)
        keyed[key, default: []].append((index, value))
      }
    }
    for (key, group) in keyed {
      for part in group.parts(of: RequestLimits.listedValues) {
        let records = try await records(key, Set(part.map(\.value)).sorted())
        for (index, value) in part {
          guard case .found(let record)? = records[value],
            let id = UnacknowledgedCreates.id(of: record)
          else { continue }
          writers[index].recordID = id
          if let creation = writers[index].creation { found[creation] = id }
        }
      }
    }
  }

  private nonisolated(nonsending) func records(
    _ key: UpsertKey, _ values: [String]
  ) async throws -> [String: UpsertRule.Keyed] {
    guard let describe = try await describe(key.sobject) else { return [:] }
    do throws(OrgError) {
      let name = describe.field(key.field)?.name ?? key.field
      return try await access.keyed(describe, key.field, values, fields: ["Id", name])
    } catch {
      // The upsert itself will report what is wrong with the object.
      guard error.isAboutTheObject else { throw error }
      return [:]
    }
  }

  // MARK: the records above them

  /// The records directly above the record of an edit.
  private struct Direct {
    var inOrg: Set<String>
    var onDevice: Set<String>
    /// After the references that the device has edited and that are sent; nil if it has edited none.
    var moves: Set<String>?
    /// As the device has them; nil if all references that it is known to have edited are sent.
    var shown: Set<String>?
  }

  /// The direct parents of an edit's record.
  ///
  /// For a new record, and one that the asker cannot see, they are taken from the device.
  private nonisolated(nonsending) func parents(of writer: CascadeWriter) async throws -> Direct {
    let inOrg = writer.recordID.flatMap { known[$0] }
    let sent = Set(rules.fields(of: writer.soup, for: writer.isNew ? .create : .update))
    var onDevice: Set<String> = []
    for field in fields[writer.sobject] ?? [] {
      let isSent = inOrg == nil || sent.contains(field)
      if isSent, let value = writer.element[field] {
        if let id = try await referent(value, of: writer) { onDevice.insert(id) }
      } else if let id = inOrg?[field] {
        onDevice.insert(id)
      }
    }
    var direct = Direct(inOrg: inOrg.map { Set($0.values) } ?? onDevice, onDevice: onDevice)
    guard let inOrg, let edit = writer.openEdit else { return direct }
    let edited = fields[writer.sobject]?.filter { Self.moves(edit, writer, $0) } ?? []
    if edited.isEmpty { return direct }
    var moves = Set(inOrg.filter { !edited.contains($0.key) }.values)
    var shown = moves
    for field in edited {
      guard let value = writer.element[field], let id = try await referent(value, of: writer)
      else { continue }
      shown.insert(id)
      if sent.contains(field) { moves.insert(id) }
    }
    if direct.onDevice != direct.inOrg { direct.moves = moves }
    if edited.contains(where: { !sent.contains($0) && edit.base?.knows($0) == true }) {
      direct.shown = shown
    }
    return direct
  }

  /// Whether a device has edited a reference, as far as that is known.
  private static func moves(_ edit: OpenEdit, _ writer: CascadeWriter, _ field: String) -> Bool {
    guard let value = writer.element[field] else { return false }
    guard let base = edit.base, base.knows(field) else { return true }
    return !FieldValue.isSame(base.fields[field], value)
  }

  /// The record, or new record, that a reference of an edit means.
  private nonisolated(nonsending) func referent(
    _ value: JSONValue, of writer: CascadeWriter
  ) async throws -> String? {
    guard let text = value.string, !text.isEmpty else { return nil }
    if let id = text.recordID18 { return try await remade.current(id) }
    guard let edit = writer.openEdit else { return nil }
    switch try await remade.referent(text, of: edit) {
    case .record(let id, _)?: return id
    case .new(let creation)?: return found[creation.id] ?? Self.name(ofNew: creation.id)
    case .unknown?, nil: return nil
    }
  }

  /// The name of a record without an ID in `known`.
  private static func name(ofNew creation: Int64) -> String { "creation \(creation)" }

  /// Some records and all records above them, the nearest first; with `lineage`, as its device's
  /// edits leave them.
  private func closure(_ direct: Set<String>, of lineage: Int64? = nil) -> [String] {
    let moved = lineage.flatMap { self.moved[$0] } ?? [:]
    var all: [String] = []
    var next = direct
    while !next.isEmpty {
      all += next.sorted()
      let above = next.flatMap { Array(moved[$0] ?? Set((known[$0] ?? [:]).values)) }
      next = Set(above).subtracting(all)
    }
    return all
  }

  private nonisolated(nonsending) func current(_ ids: [String]) async throws -> [String] {
    var current: [String] = []
    for id in ids { current.append(try await remade.current(id)) }
    return current
  }

  // MARK: questions

  /// Reads which objects are deleted with those of the deletions, down to those of the writers.
  private nonisolated(nonsending) mutating func learn(_ deleted: Set<String>) async throws {
    for writer in writers { names[writer.sobject] = writer.objectName }
    let written = Set(writers.map(\.sobject))
    var wanted = written
    for sobject in written.sorted() {
      guard let describe = try await describe(sobject) else { continue }
      wanted.formUnion(describe.fields.flatMap(\.referenceTo).map { $0.lowercased() })
    }
    var asked: Set<String> = []
    var next = deleted
    for _ in 0..<Self.levels where !next.isEmpty {
      var found: Set<String> = []
      for sobject in next.sorted() where asked.insert(sobject).inserted {
        guard let describe = try await describe(sobject) else { continue }
        if let prefix = describe.keyPrefix { between[prefix] = sobject }
        for child in describe.children where child.cascadesDelete {
          let name = child.sobject.lowercased()
          guard wanted.contains(name) else { continue }
          names[name] = child.sobject
          fields[name, default: []].insert(child.field)
          found.insert(name)
        }
      }
      next = found
    }
  }

  private nonisolated(nonsending) func describe(_ sobject: String) async throws -> Describe? {
    let name = names[sobject] ?? sobject
    guard APIName.isValid(name) else { return nil }
    do {
      return try await access.describe(name)
    } catch {
      guard error.isAboutTheObject else { throw error }
      return nil
    }
  }

  /// Reads the records above some records of an object.
  private nonisolated(nonsending) mutating func read(
    _ sobject: String, _ ids: Set<String>
  ) async throws {
    let ids = ids.filter { asked.insert($0).inserted }.sorted()
    guard let fields = fields[sobject], !ids.isEmpty, let describe = try await describe(sobject)
    else { return }
    let names = fields.compactMap { describe.field($0)?.name }.sorted()
    if names.isEmpty { return }
    let found = try await access.records(describe.name, ids: ids, fields: ["Id"] + names)
    for (id, record) in found {
      known[id] = names.reduce(into: [:]) { $0[$1] = record[$1]?.string?.recordID18 }
    }
  }
}

/// All records above the record of an edit, the nearest first: if the org deletes one of them, it
/// deletes the edit's record with it.
struct RecordsAbove {
  /// In the org.
  var inOrg: [String]
  /// After the edits of the device, as far as they are sent.
  var onDevice: [String]
  /// As the device has the record, whatever is sent; nil if that is `onDevice`.
  var shown: [String]?
  /// As the device was issued the record; nil if that is not known, or if it was not issued it.
  var issued: [String]?
  /// The references in which the org has another record than the device, which has not edited them.
  var unmoved: Set<String> = []

  /// Whether the device was issued the record below another one and has moved it away, while no sync
  /// up sends the move, so that it is still there in the org.
  func isLeft(_ id: String) -> Bool {
    guard let shown, issued?.contains(id) == true, inOrg.contains(id) else { return false }
    return !shown.contains(id)
  }
}
