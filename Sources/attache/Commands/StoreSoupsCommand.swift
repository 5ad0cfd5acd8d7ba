import Arguments
import JSON
import SmartStore
import System

/// `attache store soups`: lists the soups of a store.
struct StoreSoupsCommand: Command {
  static let name = "store soups"
  static let summary = "list the soups of a store, with their elements and indexes"
  static let discussion =
    "The store is opened read-only. The paths are those that Smart SQL can use."
  static let examples = [
    Note("attache store soups store.sqlite", "the soups that store query can read")
  ]
  static var parameters: [Parameter<Self>] {
    [.argument("store", "the store file", completes: .files, \.store)]
      + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let store = try Store(opening: context.existing(store), readOnly: true)
    var rows: [[String]] = []
    var list: [JSONValue] = []
    for name in try store.soupNames().sorted() {
      let (count, indexes) = (try store.count(of: name), try store.indexSpecs(of: name))
      rows.append([
        name, String(count),
        indexes.map { "\($0.path) (\($0.type.rawValue))" }.joined(separator: ", "),
      ])
      list.append([
        "soup": .string(name), "elements": JSONValue(count),
        "indexes": .array(
          indexes.map { ["path": .string($0.path), "type": .string($0.type.rawValue)] }),
      ])
    }
    try store.close()
    if options.json {
      context.print(.array(list))
    } else if !options.quiet {
      let table = TextTable.lines(
        header: ["soup", "elements", "indexes"], rows: rows, isCut: context.outputIsTerminal)
      for line in table { context.print(line) }
    }
    return .done
  }
}
