import JSON
import Salesforce
import System

/// The org as it would be after writes that are not sent; a dry run writes here.
///
/// Each write is assumed to succeed, unless the org's description of the object shows that it would
/// be refused. A `RecordReader` returns records with these writes applied. The org's triggers,
/// validation rules and locks are not simulated.
package final class SimulatedOrg {
  private enum Record {
    /// A record with its creator; nil for a record that exists in the org.
    case written(JSONObject, maker: String?)
    case deleted
  }

  private struct Key: Hashable {
    var sobject: String
    var field: String
    var value: String

    init(_ sobject: String, _ field: String, _ value: String) {
      self.sobject = sobject.lowercased()
      self.field = field.lowercased()
      self.value = value.lowercased()
    }
  }

  private var records: [String: Record] = [:]
  /// The IDs of the records with known external IDs.
  private var byKey: [Key: String] = [:]
  private var made = 0
  /// The values of records in the recycle bin, by ID.
  private var binned: [String: JSONObject] = [:]
  /// The users' access to records, by user and record.
  private var access: [String: [String: RecordAccess]] = [:]

  package init() {}

  /// Whether a record exists only as a simulated create.
  package func hasMade(_ id: String) -> Bool {
    if case .written(_, maker: .some)? = records[id] { true } else { false }
  }

  // MARK: Writing

  /// Fetches the access of `reader`'s user to records that are going to be written.
  package nonisolated(nonsending) func learn(
    accessTo ids: [String], of reader: RecordReader
  ) async throws(OrgError) {
    let user = reader.session.identity.userID
    let unknown = ids.filter { !hasMade($0) && access[user]?[$0.recordID18 ?? $0] == nil }
    if unknown.isEmpty { return }
    do throws(OrgError) {
      access[user, default: [:]].merge(try await reader.session.access(to: unknown)) { $1 }
    } catch {
      // The org or the user does not have that object, so access is not simulated.
      guard error.isAboutTheObject else { throw error }
    }
  }

  /// Fetches the values of records that `reader`'s user is going to undelete.
  package nonisolated(nonsending) func learn(
    binned ids: [String], of sobject: String, _ reader: RecordReader
  ) async throws(OrgError) {
    let unknown = ids.filter { binned[$0.recordID18 ?? $0] == nil }
    if unknown.isEmpty { return }
    do throws(OrgError) {
      let names = try await reader.describe(sobject).fields.filter { $0.type != "base64" }
      binned.merge(
        try await reader.withBin(sobject, ids: unknown, fields: names.map(\.name))
      ) { $1 }
    } catch {
      // The values after the undelete are then not simulated.
      guard error.isAboutTheObject else { throw error }
    }
  }

  /// Records which record the org has with an external ID.
  package func know(_ id: String, under value: String, in field: String, of sobject: String) {
    byKey[Key(sobject, field, value)] = id.recordID18 ?? id
  }

  /// Returns the org's expected response to a write of `reader`'s user at `now`, in milliseconds of
  /// the org's time.
  package nonisolated(nonsending) func answer(
    _ write: SyncUpWrite, as reader: RecordReader, now: Int64
  ) async throws -> RowAnswer {
    let describe = try await reader.describe(write.objectType)
    let user = reader.session.identity.userID
    if write.action == .undelete, let id = write.recordID {
      return undelete(id.recordID18 ?? id, by: user, now: now)
    }
    var fields = try JSONValue(parsing: write.body).object ?? [:]
    var id = write.recordID.map { $0.recordID18 ?? $0 }
    if let key = write.externalKey {
      fields[key.field] = try JSONValue(parsing: key.json)
      id = byKey[Key(describe.name, key.field, key.text)]
      let isOutOfSight: Bool
      if let id {
        isOutOfSight = isHidden(id, from: reader)
      } else {
        isOutOfSight = try await isTaken(key, describe, reader)
      }
      if isOutOfSight {
        return .refused(
          RowRefusal(
            code: ErrorCodes.duplicate,
            message: "a record that the user cannot see has this value in \(key.field)",
            fields: [key.field]))
      }
    }
    if let refusal = refusal(of: write.action, id, user) { return .refused(refusal) }
    if write.action == .delete, let id {
      records[id] = .deleted
      return .done(id: id, created: nil)
    }
    if let refusal = Self.refusal(of: fields, isNew: id == nil, describe) {
      return .refused(refusal)
    }
    let date = JSONValue.string(Dates.salesforce(now))
    for name in ["LastModifiedDate", "SystemModstamp"] { fields[name] = date }
    fields["LastModifiedById"] = .string(user)
    if let id {
      stand(id, fields, maker: nil)
      return .done(id: id, created: write.action == .upsert ? false : nil)
    }
    fields["CreatedDate"] = date
    fields["CreatedById"] = .string(user)
    let new = newID(describe.keyPrefix)
    stand(new, fields, maker: user)
    if let key = write.externalKey { know(new, under: key.text, in: key.field, of: describe.name) }
    return .done(id: new, created: true)
  }

  /// A record is restored with its values at deletion; whether the org allows it is not simulated.
  private func undelete(_ id: String, by user: String, now: Int64) -> RowAnswer {
    var fields = binned[id] ?? [:]
    fields["IsDeleted"] = false
    fields["LastModifiedById"] = .string(user)
    for name in ["LastModifiedDate", "SystemModstamp"] {
      fields[name] = .string(Dates.salesforce(now))
    }
    stand(id, fields, maker: nil)
    return .done(id: id, created: nil)
  }

  /// Whether a record that the user cannot see has the external ID in the org.
  private nonisolated(nonsending) func isTaken(
    _ key: SyncUpWrite.ExternalKey, _ describe: Describe, _ reader: RecordReader
  ) async throws(OrgError) -> Bool {
    guard let prover = reader.prover else { return false }
    let rows = try await prover.records(
      describe, fields: ["Id"], externalID: key.field, among: [key.text])
    return rows?.isEmpty == false
  }

  /// A record created by another simulated user counts as visible to that user only.
  private func isHidden(_ id: String, from reader: RecordReader) -> Bool {
    guard case .written(_, let maker?)? = records[id] else { return false }
    return maker != reader.session.identity.userID && !reader.isProver
  }

  private func stand(_ id: String, _ fields: JSONObject, maker: String?) {
    guard case .written(var before, let known)? = records[id] else {
      records[id] = .written(fields, maker: maker)
      return
    }
    for (name, value) in fields {
      before[before.names.first { $0.lowercased() == name.lowercased() } ?? name] = value
    }
    records[id] = .written(before, maker: known)
  }

  /// The server part of an ID that no org generates.
  private static let server = "zzz"

  /// Whether an ID belongs to a simulated record; no org generates such IDs.
  package static func isMade(_ id: String) -> Bool { id.dropFirst(3).hasPrefix(server) }

  /// Returns an ID that no org generates.
  private func newID(_ prefix: String?) -> String {
    made += 1
    let number = String(made)
    let text =
      (prefix ?? "000") + Self.server + String(repeating: "0", count: 9 - number.count) + number
    return text.recordID18 ?? text
  }

  // MARK: Refusals

  /// Returns why the org would refuse a user access to a record, as far as access was fetched.
  private func refusal(of action: SyncUpAction, _ id: String?, _ user: String) -> RowRefusal? {
    guard let id, let access = access[user]?[id] else { return nil }
    if action == .delete ? access.mayDelete : access.mayEdit { return nil }
    let verb = action == .delete ? "delete" : "change"
    return RowRefusal(
      code: "INSUFFICIENT_ACCESS_OR_READONLY", message: "the user may not \(verb) the record")
  }

  /// Returns why the org would refuse a row's fields, judged by its description of the object.
  private static func refusal(
    of fields: JSONObject, isNew: Bool, _ describe: Describe
  ) -> RowRefusal? {
    var readOnly: [String] = []
    for (name, value) in fields where name.lowercased() != "attributes" {
      // An unknown name may be the name of a relationship.
      guard let field = describe.field(name) else { continue }
      guard isNew ? field.isCreateable : field.isUpdateable else {
        readOnly.append(field.name)
        continue
      }
      if let text = value.string, isTooLong(text, for: field) {
        return RowRefusal(
          code: "STRING_TOO_LONG",
          message: "\(field.name) has a maximum length of \(field.length) characters",
          fields: [field.name])
      }
    }
    if !readOnly.isEmpty {
      return RowRefusal(
        code: "INVALID_FIELD_FOR_INSERT_UPDATE",
        message: "the user may not set \(readOnly.joined(separator: ", "))", fields: readOnly)
    }
    let missing = describe.fields.filter { field in
      guard field.isCreateable, !field.isNillable, !field.isDefaultedOnCreate,
        field.type != "boolean"
      else { return false }
      let given = fields.first { $0.name.lowercased() == field.name.lowercased() }?.value
      return given.map {
        $0.isNull || $0.string.map(FieldValue.withoutTrailingBlanks)?.isEmpty == true
      } ?? isNew
    }.map(\.name)
    if missing.isEmpty { return nil }
    return RowRefusal(
      code: "REQUIRED_FIELD_MISSING",
      message: "required fields are missing: \(missing.joined(separator: ", "))", fields: missing)
  }

  /// The org does not count trailing white space.
  private static func isTooLong(_ text: String, for field: Describe.Field) -> Bool {
    guard field.length > 0, text.utf8.count > field.length else { return false }
    return FieldValue.withoutTrailingBlanks(text).utf16.count > field.length
  }

  // MARK: Reading

  /// Returns the IDs whose records must be fetched, without those that are simulated as new or
  /// deleted or are fully known.
  func unknown(_ ids: [String], _ fields: [String]) -> [String] {
    ids.filter { id in
      guard case .written(let written, let maker)? = records[id.recordID18 ?? id] else {
        return records[id.recordID18 ?? id] == nil
      }
      return maker == nil && !Self.isWhole(written, fields)
    }
  }

  /// Whether the values written to a record cover all requested fields.
  private static func isWhole(_ written: JSONObject, _ fields: [String]) -> Bool {
    fields.allSatisfy { $0.isIDName || written[anyCase: $0] != nil }
  }

  /// Returns records with the simulated writes applied; `found` are the org's records with `ids`.
  func applied(
    to found: [String: JSONObject], _ ids: [String], _ fields: [String], for reader: RecordReader
  ) -> [String: JSONObject] {
    var result = found
    for id in ids.map({ $0.recordID18 ?? $0 }) where !isHidden(id, from: reader) {
      switch records[id] {
      case nil: continue
      case .deleted?: result[id] = nil
      case .written(let written, let maker)?:
        var record = found[id] ?? [:]
        // A record that was requested and did not arrive is missing or not visible to the user.
        if found[id] == nil, maker == nil, !Self.isWhole(written, fields) { continue }
        for field in fields {
          if field.isIDName { record[field] = .string(id) }
          if let value = written[anyCase: field] { record[field] = value }
        }
        result[id] = record
      }
    }
    return result
  }

  /// Returns the rows of a query for external IDs with the simulated records added.
  func applied(
    to rows: [JSONObject], _ fields: [String], of sobject: String, field: String, values: [String],
    for reader: RecordReader
  ) -> [JSONObject] {
    let ids = rows.compactMap { $0["Id"]?.string?.recordID18 }
    let found = Dictionary(zip(ids, rows), uniquingKeysWith: { one, _ in one })
    let all = ids + values.compactMap { byKey[Key(sobject, field, $0)] }
    let applied = applied(to: found, Array(Set(all)), fields, for: reader)
    return applied.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Whether a record is deleted in the simulation.
  func isDeleted(_ id: String) -> Bool {
    if case .deleted? = records[id.recordID18 ?? id] { true } else { false }
  }
}

extension String {
  /// Whether a field name is a record's Id.
  var isIDName: Bool { lowercased() == "id" }
}

extension JSONObject {
  /// The member with this name, ignoring case.
  fileprivate subscript(anyCase name: String) -> JSONValue? {
    if let value = self[name] { return value }
    let lowered = name.lowercased()
    return first { $0.name.lowercased() == lowered }?.value
  }
}
