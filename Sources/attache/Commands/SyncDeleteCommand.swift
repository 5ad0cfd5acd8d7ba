import Arguments
import JSON
import MobileSync
import SmartStore
import System

/// `attache sync delete`: removes syncs from a store.
struct SyncDeleteCommand: Command {
  static let name = "sync delete"
  static let summary = "remove syncs from a store; their records stay"
  static let discussion = """
    If a sync of the same name is set up later, it fetches everything again. The records stay marked with \
    the ID of the removed sync, and the new one does not remove them when the org deletes them.
    """
  static let examples = [
    Note("attache sync delete --store store.sqlite --name contactsDown", "one sync")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .option("store", "FILE", "the store file", required: true, completes: .files, \.store),
      .option("name", "NAME", "the sync's name", commas: true, \.names),
    ] + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var names: [String] = []
  var options = Options()

  func validate() throws(UsageError) {
    if names.isEmpty { throw UsageError("no sync is named", hint: "give --name NAME") }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let states = try SyncStore.syncs(in: store, context)
    let ids = try names.map { name in
      guard let state = states.first(where: { $0.name == name }) else {
        throw SyncStore.unknown(name, states, "attache \(Self.name)")
      }
      return state.id
    }
    let file = try SyncStore(context.existing(store), mayCreate: false)
    let opened = try file.open(nil)
    try SyncStore.forget(ids, in: opened)
    try opened.checkpoint()
    try opened.close()
    if options.json {
      context.print(.object(["deleted": JSONValue(names)]))
    } else if !options.quiet {
      context.print("\(CountText.of(ids.count, "sync")) deleted; the records stay")
    }
    return .done
  }
}
