import JSON
import Ledger
import Pipelines
import Reports
import System
import TestSupport

/// What operators decide about open edits, and what phones take back.
extension World {
  /// Decides an open edit, counted from the last, in the wanted way if that is possible for one of
  /// them, or in one of the possible ways.
  func decide(_ back: Int, _ way: Int, _ wanted: Decision.Kind?) throws -> Bool {
    let decisions = PipelineDecisions(pipeline, root: root)
    watch.look(.pipeline)
    do {
      let open = try decisions.open().map(\.edit).filter { !$0.possible.isEmpty }
        .sorted { $0.number > $1.number }
      let those = open.filter { edit in wanted.map(edit.possible.contains) ?? false }
      let edits = those.isEmpty ? open : those
      guard !edits.isEmpty else { return false }
      let edit = edits[back % edits.count]
      let kind =
        edit.possible.first { $0 == wanted } ?? edit.possible[way % edit.possible.count]
      guard let choice = choice(kind, edit, way) else { return false }
      let result = try decisions.enter([], .init(edits: [edit.number], choice), by: "grace")
      guard let decided = result.decided.first else { return false }
      book.note(decided.decision, edit, in: self)
      return true
    } catch is PipelineError {
      // The run that follows reports what is wrong with the ledger.
      return false
    }
  }

  private func choice(
    _ kind: Decision.Kind, _ edit: ReportEdit, _ way: Int
  ) -> DecisionRequest.Choice? {
    let way = way / max(1, edit.possible.count)
    switch kind {
    case .device: return .whole(.device)
    case .server: return .whole(.server)
    case .retry: return .whole(.retry)
    case .discard: return .whole(.discard)
    case .undo: return nil
    case .set:
      guard let soup = Soup.named(edit.soup) else { return nil }
      let field = soup.listed[way % soup.listed.count]
      return .fields(
        [field: .text(token("grace"))], rest: way.isMultiple(of: 3) ? .server : .device)
    case .record:
      var ids = ([edit.detail.recordID] + edit.detail.otherIDs + edit.detail.candidates)
        .compactMap(\.self)
      // Of a create without an answer, an operator may also name a record that it does not show.
      if edit.verdict != .duplicateCreated, way.isMultiple(of: 2) || ids.isEmpty {
        ids = watch.live.filter { $0.sobject == edit.sobject }.map(\.id)
      }
      return ids.isEmpty ? nil : .whole(.record(ids[way % ids.count]))
    }
  }

  /// Takes the last deletion back or, if there is none, the last edit.
  func takeBack(_ phone: Phone) throws -> Bool {
    let deleted = phone.state.rows.values.filter { $0.isDeleted && $0.serverID != nil }
    guard phone.isInstalled, let row = deleted.max(by: { $0.date < $1.date }) else {
      return try revert(phone)
    }
    let element = try phone.elements(row.id.soup).first { Phone.entry($0) == row.id.entry }
    guard var before = element else { return false }
    if row.before.names.isEmpty {
      for name in ["", "ly_created", "ly_updated", "ly_deleted"] {
        before["__local\(name)__"] = false
      }
    } else {
      before = row.before
    }
    let node = book.newState(after: phone.state.node)
    book.reverted.formUnion(row.allChanges)
    try phone.settle(row.id, before, now: deviceNow(), node: node)
    return true
  }

  // MARK: external IDs

  /// Another user changes what has the external ID of the phone's last new visit.
  func changeKey(_ phone: Phone, _ change: Step.KeyChange) throws -> Bool {
    let own = book.makers.values.filter { $0.phone == phone.number && $0.key != nil }
    guard let key = own.max(by: { $0.state < $1.state })?.key else { return false }
    watch.look(.pipeline)
    let page = try org.query(
      "SELECT Id, IsDeleted FROM Site_Visit__c WHERE External_Id__c = '\(key)'", as: admin,
      includeDeleted: true)
    let found = try JSONValue(parsing: page.records).array ?? []
    func last(isDeleted: Bool) -> String? {
      found.last { $0["IsDeleted"]?.bool == isDeleted }?["Id"]?.string
    }
    let (live, gone) = (last(isDeleted: false), last(isDeleted: true))
    let name = token("other")
    var fields: JSONObject = ["Notes__c": .string(name)]
    switch (change, live, gone) {
    case (.deletes, let id?, _):
      if let error = org.delete("Site_Visit__c", id: id, as: admin).errors.first { throw error }
    case (.changes, let id?, _):
      if let error = org.update("Site_Visit__c", id: id, fields, as: admin).errors.first {
        throw error
      }
    case (.restores, nil, let id?): try org.undelete(id)
    case (.creates, nil, _):
      (fields["Name"], fields["External_Id__c"]) = (.string(name), .string(key))
      guard let user = org.user(named: phone.username) else { return false }
      let outcome = org.create("Site_Visit__c", fields, as: user)
      if let error = outcome.errors.first { throw error }
      // As far as can be seen, a request without an answer has made it.
      if runs.contains(where: \.isStruck), let id = outcome.id { book.sentAfterLoss.insert(id) }
      book.makers[name] = Book.Maker(phone: -1, state: -1, soup: "visits", key: key)
    case (.deletes, _, _), (.changes, _, _), (.restores, _, _), (.creates, _, _): return false
    }
    watch.look(.otherUser)
    return true
  }

  // MARK: contacts and their accounts

  /// Creates an account with contacts that refer to it by its local ID.
  func createFamily(_ phone: Phone, _ contacts: Int) throws -> Bool {
    guard let parent = try create(phone, Soup.all[0], .boolean),
      let marker = phone.state.rows[parent]?.marker
    else { return false }
    for _ in 0..<contacts {
      _ = try create(phone, Soup.all[3], .boolean, parent: Book.localID(marker))
    }
    return true
  }

  /// Gives a contact to another account.
  func moveDetail(_ phone: Phone, _ pick: Int, _ parent: Int) throws -> Bool {
    guard setup.moves, phone.isInstalled else { return false }
    let details = try phone.elements("contacts").filter { !Self.isDeleted($0, phone) }
    guard !details.isEmpty else { return false }
    var object = details[pick % details.count]
    let former = object["AccountId"]?.string
    let others = try phone.elements("accounts").filter { !Self.isDeleted($0, phone) }
      .compactMap { $0["Id"]?.string }.filter { !$0.hasPrefix("local_") && $0 != former }
    guard !others.isEmpty, let former else { return false }
    let new = others[parent % others.count]
    object["AccountId"] = .string(new)
    object["__local__"] = true
    object["__locally_updated__"] = true
    let node = book.newState(after: phone.state.node)
    _ = try phone.write(
      object, over: details[pick % details.count], into: Soup.all[3], now: deviceNow(), node: node
    ) { if $0.formerParent == nil { $0.formerParent = former } }
    book.lastMove = (former, new)
    return true
  }

  /// Deletes an account that a moved contact had, or was given to.
  func deleteParent(_ phone: Phone, isFormer: Bool) throws -> Bool {
    guard phone.isInstalled, let move = book.lastMove else { return false }
    let id = isFormer ? move.from : move.to
    let element = try phone.elements("accounts").first { $0["Id"]?.string == id }
    guard let element, !Self.isDeleted(element, phone) else { return false }
    try delete(phone, RowID(soup: "accounts", entry: Phone.entry(element)), .boolean)
    return true
  }
}
