import Arguments
import JSON
import MobileSync
import SmartStore
import System

/// `attache sync list`: lists the syncs of a store.
struct SyncListCommand: Command {
  static let name = "sync list"
  static let summary = "list the syncs of a store and their states"
  static let discussion = "The store is opened read-only."
  static let examples = [Note("attache sync list --store store.sqlite", "as a table")]
  static var parameters: [Parameter<Self>] {
    [.option("store", "FILE", "the store file", required: true, completes: .files, \.store)]
      + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let states = try SyncStore.syncs(in: store, context)
    if options.json {
      context.print(.array(states.map(\.document)))
    } else if !options.quiet {
      let header = ["id", "name", "type", "soup", "status", "progress", "last run", "cursor"]
      let rows = states.map { state in
        [
          "\(state.id)", state.name ?? "", state.type.rawValue, state.soupName,
          state.status.rawValue, "\(state.progress) %", state.lastRun, state.cursor,
        ]
      }
      for line in TextTable.lines(header: header, rows: rows, isCut: context.outputIsTerminal) {
        context.print(line)
      }
      context.note(CountText.of(states.count, "sync"))
    }
    return .done
  }
}
