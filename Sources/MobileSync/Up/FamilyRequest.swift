import JSON
import Salesforce

/// One composite request with records of one tree.
struct FamilyRequest {
  /// A record in it.
  struct Part {
    let item: FamilyPlan.Item
    /// What is sent; a child names its parent in it, unless the parent is made in this request.
    let send: UpSend
    /// The name that its result bears.
    var reference: String {
      switch item.place {
      case .parent: FamilyRequest.parentReference
      case .child(let row): "child\(row)"
      }
    }
  }

  /// What the org said.
  struct Results {
    /// One for each part.
    var answers: [RowAnswer]
    /// The modification dates of the tree after the writes, by the 18 characters of the id.
    var dates: [String: String]
  }

  private static let parentReference = "parent"
  private static let datesReference = "dates"

  let targets: FamilyTargets
  let parts: [Part]
  /// The parent's id; nil where it is made in this request.
  let parentID: String?
  /// Whether the new dates are asked for in the same request.
  let readsDates: Bool

  /// The parts, at most so many a request.
  static func most(readsDates: Bool) -> Int { Session.compositeLimit - (readsDates ? 1 : 0) }

  /// Sends it.
  func send(_ session: Session) async throws(OrgError) -> Results {
    var requests = parts.map { request($0, session) }
    // Without a parent in the org there is nothing to name in the query.
    let readsDates =
      readsDates && (parentID != nil || parts.contains { $0.item.place == .parent })
    if readsDates { requests.append(datesRequest(session)) }
    let results = try await session.composite(requests)
    let answers = zip(parts, results).map { RowAnswer($1, recordID: $0.send.recordID) }
    let dates = readsDates ? results.last.map(self.dates) ?? [:] : [:]
    return Results(answers: answers, dates: dates)
  }

  private func request(_ part: Part, _ session: Session) -> CompositeRequest {
    let member = part.item.place == .parent ? targets.family.parent : targets.family.children
    let send = part.send
    let id = send.recordID ?? ""
    let (method, path): (String, String) =
      switch send.action {
      case .create: ("POST", session.rowPath(member.sobjectType))
      case .update: ("PATCH", session.rowPath(member.sobjectType, id))
      case .delete: ("DELETE", session.rowPath(member.sobjectType, id))
      case .upsert:
        (
          "PATCH",
          session.rowPath(
            member.sobjectType, member.externalIdFieldName ?? "", send.record.externalID?.text ?? ""
          )
        )
      }
    return CompositeRequest(
      method: method, url: path, referenceId: part.reference,
      body: send.action == .delete ? nil : body(part), unmodifiedSince: send.unmodifiedSince)
  }

  private func body(_ part: Part) -> [UInt8] {
    guard part.item.namesParent, parentID == nil else { return part.send.body }
    return part.send.naming(targets.key, "@{\(Self.parentReference).id}").body
  }

  // MARK: dates

  /// The tree's dates, asked for when it is written: nobody comes between.
  private func datesRequest(_ session: Session) -> CompositeRequest {
    let (parent, children) = (targets.family.parent, targets.family.children)
    let start =
      "select \(parent.idFieldName), \(parent.modificationDateFieldName), "
      + "(select \(children.idFieldName), \(children.modificationDateFieldName) "
      + "from \(children.sobjectTypePlural ?? "")) from \(parent.sobjectType) "
      + "where \(parent.idFieldName) = "
    if let parentID {
      return session.queryRequest(
        [start + SOQLVariables.literal(parentID)], referenceId: Self.datesReference)
    }
    return session.queryRequest(
      [start + "'", "'"], around: "\(Self.parentReference).id", referenceId: Self.datesReference)
  }

  private func dates(_ result: CompositeResult) -> [String: String] {
    var dates: [String: String] = [:]
    func note(_ record: JSONValue, _ member: FamilyMember) {
      guard let id = record[member.idFieldName]?.string,
        let date = record[member.modificationDateFieldName]?.string
      else { return }
      dates[RecordID(id)?.text18 ?? id] = date
    }
    guard result.isSuccess else { return [:] }
    for parent in result.body["records"]?.array ?? [] {
      note(parent, targets.family.parent)
      let plural = targets.family.children.sobjectTypePlural ?? ""
      for child in parent[plural]?["records"]?.array ?? [] {
        note(child, targets.family.children)
      }
    }
    return dates
  }
}

extension UpSend {
  /// The same with a field more.
  func naming(_ field: String, _ value: String) -> UpSend {
    var writer = JSONWriter(reserving: fields.count + 64)
    if !fields.isEmpty { writer.raw(fields) }
    writer.name(field)
    writer.string(value)
    var send = UpSend(
      record: record, action: action, fields: writer.bytes, isRecreated: isRecreated)
    send.unmodifiedSince = unmodifiedSince
    return send
  }
}
