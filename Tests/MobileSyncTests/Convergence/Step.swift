/// One step of a history.
///
/// A step selects elements and records by a number modulo their count, so that any step can be
/// omitted and the others remain valid.
enum Step: Sendable, Hashable, CustomStringConvertible {
  enum Sync: String, Sendable, Hashable, CaseIterable { case down, up, ghosts }

  /// The date of a change in the org.
  enum Moment: Sendable, Hashable {
    case now
    case same
    /// This number of seconds before now, as if its transaction had started then and committed now.
    case late(Int)
  }

  enum Side: String, Sendable, Hashable { case server, device }

  case create(device: Int)
  case edit(device: Int, pick: Int, field: Int)
  case delete(device: Int, pick: Int)
  case orgCreate(Moment)
  case orgUpdate(pick: Int, field: Int, Moment)
  case orgDelete(pick: Int)
  /// A record changes so that the query no longer finds it.
  case orgLeave(pick: Int)
  case clock(seconds: Int)
  case sync(device: Int, Sync, Mishap?)
  /// The app resolves what the last sync up skipped.
  case resolve(device: Int, Side)
  case kill(device: Int)

  var description: String {
    func device(_ number: Int) -> String { Device.name(number) }
    return switch self {
    case .create(let number): "\(device(number)) creates a record"
    case .edit(let number, let pick, let field):
      "\(device(number)) edits element \(pick), field \(field)"
    case .delete(let number, let pick): "\(device(number)) deletes element \(pick)"
    case .orgCreate(let moment): "the org gets a record\(moment.words)"
    case .orgUpdate(let pick, let field, let moment):
      "the org's record \(pick) changes in field \(field)\(moment.words)"
    case .orgDelete(let pick): "the org's record \(pick) is deleted"
    case .orgLeave(let pick): "the org's record \(pick) leaves the query"
    case .clock(let seconds): "the org's clock moves by \(seconds) s"
    case .sync(let number, let sync, let mishap):
      "\(device(number)) syncs \(sync.rawValue)" + (mishap.map { " with \($0)" } ?? "")
    case .resolve(let number, let side):
      "\(device(number)) resolves conflicts for the \(side.rawValue)"
    case .kill(let number): "\(device(number)) is killed and restarts"
    }
  }
}

extension Step.Moment {
  var words: String {
    switch self {
    case .now: ""
    case .same: ", in the second of the previous change"
    case .late(let seconds): ", committed \(seconds) s late"
    }
  }
}
