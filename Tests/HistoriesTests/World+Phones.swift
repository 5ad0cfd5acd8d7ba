import JSON
import SmartStore
import System
import TestSupport

/// Installing and returning, and the rows that a bundle issues as open.
extension World {
  @discardableResult func install(_ phone: Phone) throws -> Bool {
    guard let user = org.user(named: phone.username),
      let generation = try data.generations(of: user.id).last
    else { return false }
    let place = data.generation(generation, of: user.id)
    let prefix = phone.platform.rawValue + ".bundle."
    let names = try Files.list(place)
    guard let name = names.filter({ $0.hasPrefix(prefix) && !$0.hasSuffix(".sig") }).sorted().last
    else { return false }
    let node = book.newState(after: nil)
    if setup.kits { return try sync(phone, place, name, generation, node) }
    let isRestored = book.restored.contains(phone.state.installation)
    let gone = try phone.install(
      place + "/" + name, node: node, installation: node, now: deviceNow(), read: carried)
    guard let gone else { return false }
    try judge(gone, phone, by: place + "/" + name, isRestored)
    return true
  }

  /// A phone whose app is built on a kit does what the kit decides.
  private func sync(
    _ phone: Phone, _ place: String, _ name: String, _ generation: Int, _ node: Int
  ) throws -> Bool {
    // A run that was killed may have left a bundle without its signature.
    guard Files.exists("\(place)/\(name).sig") else { return false }
    let delta =
      "\(place)/\(phone.platform.rawValue).delta.\(phone.state.generation)-\(generation).zip"
    let isRestored = book.restored.contains(phone.state.installation)
    let (outcome, gone) = try phone.sync(
      place + "/" + name, delta: Files.exists(delta) ? delta : nil, node: node, installation: node,
      now: deviceNow(), read: carried)
    tally.add(outcome, to: "decisions")
    if outcome == .returnFirst { return try returnStore(phone) }
    guard outcome.isInstalled else { return false }
    try judge(gone, phone, by: place + "/" + name, isRestored)
    return true
  }

  /// Judges the rows that a bundle replaced on a phone.
  private func judge(
    _ gone: [RowID: PhoneRow], _ phone: Phone, by bundle: String, _ isRestored: Bool
  ) throws {
    let packed = bundles[bundle]
    phone.knowBundle(of: packed?.time)
    guard phone.setup.marksInstall || setup.kits else { return }
    let past = Set(runs.prefix(packed?.runs ?? 0).compactMap(\.id))
    try book.installedOver(gone, phone, isRestored: isRestored, packedAfter: past)
  }

  func returnStore(_ phone: Phone, altering soup: Soup? = nil) throws -> Bool {
    // A kit does not return a store in the middle of a change of its indexes.
    guard phone.isInstalled, soup == nil || !setup.kits else { return false }
    let ending = setup.kits ? ".zip" : phone.setup.isAndroid ? ".db" : ".sqlite"
    let file = "h\(book.returned.count)-\(phone.number)" + ending
    try Files.makeDirectory(data.inbox(pipeline.inbox.path))
    let path = data.inbox(pipeline.inbox.path) + "/" + file
    try phone.returnStore(to: path, now: deviceNow())
    if let soup { try phone.alterHalf(path, soup) }
    try date(path)
    let copy = directory.file(file)
    try Files.copy(data.inbox(pipeline.inbox.path) + "/" + file, to: copy)
    let state = phone.state
    book.returned.append(
      ReturnedFile(
        file: file, path: copy, phone: phone.number, step: step, state: state.node,
        installation: state.installation, marksInstall: phone.setup.marksInstall,
        number: state.handback, rows: state.rows.filter { state.came[$0.key] != $0.value },
        sent: state.sent, fixed: state.came.filter { state.rows[$0.key] != $0.value }.map(\.value),
        asIssued: state.rows.filter { state.came[$0.key] == $0.value }))
    return true
  }

  // MARK: open rows

  /// An open row of a bundle as the book has it: a phone returned it, and the org did not accept
  /// it.
  private func carried(_ element: JSONObject, _ soup: Soup) throws -> PhoneRow {
    let id = RowID(soup: soup.name, entry: Phone.entry(element))
    let isLocal = element["Id"]?.string?.hasPrefix("local_") ?? false
    let isDeleted = element["__locally_deleted__"] == true
    // An open row also shows the org's values, including other phones' edits; a deleted record may
    // have been recreated.
    let recordID = element["Id"]?.string ?? ""
    func held(_ row: PhoneRow) -> [String: (value: String, change: Int)] {
      row.changed.filter { Soup.text($0.key, of: element) == $0.value.value }
    }
    func unseen(_ row: PhoneRow) -> [String: (value: String, change: Int)] {
      held(row).filter { !watch.hasSeen($0.value.value, recordID, $0.key) }
    }
    let rows = book.returned.reversed().flatMap(\.rows.values).filter { row in
      row.id.soup == soup.name && row.isDeleted == isDeleted
        && (row.serverID.map { $0 == element["Id"]?.string || watch.wasDeleted($0) } ?? true)
    }
    func origins(_ left: (PhoneRow) -> [String: (value: String, change: Int)]) -> [PhoneRow] {
      rows.filter { $0.changed.isEmpty || isDeleted || !left($0).isEmpty }
    }
    // A change that a request without an answer wrote can be open as well.
    let left = origins(unseen).isEmpty ? held : unseen
    guard let origin = origins(left).max(by: { left($0).count < left($1).count }) else {
      throw Violation(
        "\(id) was issued as open, but was never returned: \(JSONValue.object(element).text)")
    }
    var row = PhoneRow(id: id, issued: Phone.values(element, soup), before: element)
    if isLocal { row.marker = origin.marker } else { row.serverID = element["Id"]?.string }
    row.changed = left(origin)
    for field in row.changed.keys {
      row.issued[field] = origin.issued[field]
      row.before[field] =
        field == Soup.compound
        ? origin.before[field] : origin.issued[field].map { .string($0) } ?? .null
    }
    row.isDeleted = isDeleted
    row.date = element["_soupLastModifiedDate"]?.int ?? 0
    row.came = Set(row.changed.values.map(\.change))
    if (element["__last_error__"]?.string ?? "").isEmpty {
      throw Violation("\(id) was issued as open without a reason")
    }
    for name in ["", "ly_created", "ly_updated", "ly_deleted"] {
      row.before["__local\(name)__"] = false
    }
    row.before["__last_error__"] = nil
    return row
  }

  func fix(_ phone: Phone, _ pick: Int, _ field: Int) throws -> Bool {
    guard let id = open(phone, pick), let soup = Soup.named(id.soup),
      let element = try phone.elements(id.soup).first(where: { Phone.entry($0) == id.entry }),
      !Self.isDeleted(element, phone)
    else { return false }
    // A value that is too long is replaced by another one.
    let long = soup.listed.first { (element[$0]?.string?.count ?? 0) > Self.mostCharacters }
    try change(phone, soup, element, long ?? soup.field(field), .boolean, isShown: true)
    return true
  }

  func discard(_ phone: Phone, _ pick: Int) throws -> Bool {
    guard let id = open(phone, pick), let row = phone.state.rows[id] else { return false }
    let node = book.newState(after: phone.state.node)
    book.reverted.formUnion(row.allChanges)
    try phone.settle(id, row.marker == nil ? row.before : nil, now: deviceNow(), node: node)
    return true
  }

  private func open(_ phone: Phone, _ pick: Int) -> RowID? {
    let open = phone.state.came.keys.filter { phone.state.rows[$0] != nil }
      .sorted { ($0.soup, $0.entry) < ($1.soup, $1.entry) }
    return open.isEmpty ? nil : open[pick % open.count]
  }
}
