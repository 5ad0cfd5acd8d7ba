/// One step of a history.
///
/// A step selects elements and records by a number modulo their count, so that any step can be
/// omitted and the others remain valid.
enum Step: Sendable, Hashable {
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
}
