import Arguments
import JSON
import MobileSync
import SmartStore
import System

/// `attache sync status`: shows one sync of a store in full.
struct SyncStatusCommand: Command {
  static let name = "sync status"
  static let summary = "show the definition and the state of one sync"
  static let discussion = """
    The store is opened read-only. Give --id for a sync without a name; attache sync list shows the IDs.
    """
  static let examples = [
    Note("attache sync status --store store.sqlite --name contactsDown", "by its name"),
    Note("attache sync status --store store.sqlite --id 2 --json", "by its id, as JSON"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .option("store", "FILE", "the store file", required: true, completes: .files, \.store),
      .option("name", "NAME", "the sync's name", \.sync),
      .option("id", "ID", "the sync's ID", \.id),
    ] + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var sync: String?
  var id: Int?
  var options = Options()

  func validate() throws(UsageError) {
    if (sync == nil) == (id == nil) {
      throw UsageError(
        id == nil ? "the name or ID of a sync is needed" : "--name and --id exclude each other",
        hint: id == nil ? "give --name NAME or --id ID" : "give one of them")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let states = try SyncStore.syncs(in: store, context)
    guard
      let state = states.first(where: {
        $0.id == id.map(Int64.init) || $0.name == sync && sync != nil
      })
    else {
      throw SyncStore.unknown(sync ?? "\(id ?? 0)", states, "attache \(Self.name)")
    }
    if options.json {
      context.print(state.document)
    } else if !options.quiet {
      for line in lines(state) { context.print(line) }
    }
    return .done
  }

  private func lines(_ state: SyncState) -> [String] {
    var rows = [
      ("name", state.name ?? ""), ("id", "\(state.id)"), ("type", state.type.rawValue),
      ("soup", state.soupName), ("status", state.status.rawValue),
      ("progress", "\(state.progress) %"),
      ("total", state.totalSize < 0 ? "" : "\(state.totalSize)"), ("last run", state.lastRun),
      ("cursor", state.cursor), ("error", state.error),
    ]
    rows.append(("target", state.target.text))
    rows.append(("options", state.options.text))
    return rows.filter { !$0.1.isEmpty }.map { name, value in
      name + String(repeating: " ", count: 10 - name.count) + value
    }
  }
}
