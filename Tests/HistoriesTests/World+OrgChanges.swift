import JSON
import LocalOrg
import TestSupport

/// Changes by other users in the org.
extension World {
  func changeOrg(_ work: OrgChange) throws -> Bool {
    try watch.change(as: .otherUser) { try OtherUser(self).perform(work, in: org) }
  }
}

/// Another user of the org, who can also make changes while a run waits for an answer.
struct OtherUser: Sendable {
  private let watch: OrgWatch
  private let admin: OrgUser
  private let value: String
  private let changed: String?
  private let movedTo: String?
  init(_ world: World) {
    watch = world.watch
    admin = world.admin
    value = world.token("other")
    changed = world.book.changes.last { $0.recordID != nil }?.recordID
    movedTo = world.book.lastMove?.to
  }

  func performMeanwhile(_ work: OrgChange, in org: Org) {
    // A change that is not possible is skipped.
    _ = try? watch.change(as: .otherUser) { try perform(work, in: org) }
  }

  func perform(_ work: OrgChange, in org: Org) throws -> Bool {
    if work.isSameSecond { try org.setClock(org.now() - 1000) }
    switch work.action {
    case .create:
      _ = try HistoryOrg.create("Account", value, as: owner(nil, org), org)
      return true
    case .undelete:
      guard let record = watch.records.last(where: \.isDeleted) else { return false }
      try org.undelete(record.id)
      return true
    case .update(let field):
      guard let record = target(work.target) else { return false }
      let fields = Soup.fields(of: record.sobject)
      let change: JSONObject = [fields[field % fields.count]: .string(value)]
      if let error = org.update(record.sobject, id: record.id, change, as: admin).errors.first {
        throw error
      }
      return true
    case .delete:
      guard let record = target(work.target) else { return false }
      if let error = org.delete(record.sobject, id: record.id, as: admin).errors.first {
        throw error
      }
      return true
    case .reassign:
      guard let record = target(work.target) else { return false }
      let current = try org.read(record.sobject, id: record.id, as: admin)["OwnerId"]?.string
      try org.transfer(record.id, to: owner(current, org).username)
      watch.touch(record.id)
      return true
    }
  }

  /// The technician who does not own a record.
  private func owner(_ current: String?, _ org: Org) throws -> OrgUser {
    guard let ada = org.user(named: "ada@example.com"), let ben = org.user(named: "ben@example.com")
    else { throw Violation("the org has lost its users") }
    return current == ada.id ? ben : ada
  }

  private func target(_ target: OrgChange.Target) -> OrgRecord? {
    let live = watch.live
    guard !live.isEmpty else { return nil }
    switch target {
    case .record(let pick): return live[pick % live.count]
    case .ofPhone: return changed.flatMap { id in live.first { $0.id == id } }
    case .newest: return live.last
    case .ofMove: return movedTo.flatMap { id in live.first { $0.id == id } }
    }
  }
}
