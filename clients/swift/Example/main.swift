import AttacheKit
import Foundation

// Syncs a phone once: `Phone ROOT ORG USER KEY SERVER INBOX`; prints the reasons and the decision.
let words = CommandLine.arguments.dropFirst().map { $0 }
let files = FileManager.default
let root = URL(fileURLWithPath: words[0])
let cache = root.appendingPathComponent("cache")
try files.createDirectory(at: cache, withIntermediateDirectories: true)
let kit = Attache(
  root: root,
  owner: Owner(org: words[1], user: words[2], pipeline: "visits", platform: .ios),
  trust: try Trust(keys: [words[3]]))
try kit.resume()
let app = FieldApp(
  kit: kit, cache: cache,
  fetch: { name, file in
    let served = URL(fileURLWithPath: words[4]).appendingPathComponent(name)
    guard let content = try? Data(contentsOf: served) else { return false }
    try content.write(to: file)
    return true
  },
  upload: { file in
    let inbox = URL(fileURLWithPath: words[5])
    try files.copyItem(at: file, to: inbox.appendingPathComponent("ios.part"))
    try files.moveItem(
      at: inbox.appendingPathComponent("ios.part"), to: inbox.appendingPathComponent("ios.zip"))
  },
  closing: {}, show: { print($0.sentence) })
let decision = try app.sync()
print(decision.action.rawValue, kit.generation ?? 0)
