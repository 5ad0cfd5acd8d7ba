import JSON

/// Where bundles are published.
package enum PublishSettings: Sendable, Hashable {
  case store(ObjectStoreSettings)
  /// A program with its arguments, which is called for each file.
  case command([String])

  static let keys = ["store", "command"]

  /// The object store; nil for a program.
  var store: ObjectStoreSettings? {
    if case .store(let store) = self { store } else { nil }
  }

  init?(_ object: ConfigurationObject, _ node: JSONNode, in directory: String) {
    let reader = object.reader
    guard Self.keys.count(where: { object[$0] != nil }) == 1 else {
      reader.report(
        node, "bundles are published to a store or by a command",
        #"write {"store": {"s3": {"region": "…", "bucket": "…"}}}, {"store": {"directory": "PATH"}} "#
          + #"or {"command": ["/PROGRAM"]}"#)
      return nil
    }
    if let store = object["store"] {
      guard let settings = ObjectStoreSettings(store, in: directory, reader) else { return nil }
      self = .store(settings)
      return
    }
    guard let words = object.strings("command"), let node = object["command"] else { return nil }
    guard let program = words.first, program.hasPrefix("/") else {
      reader.report(
        node, "the program's path is not absolute", "write [\"/PATH/PROGRAM\", \"ARGUMENT\"]")
      return nil
    }
    self = .command(words)
  }

  var json: JSONValue {
    switch self {
    case .store(let settings): ["store": settings.json]
    case .command(let words): ["command": JSONValue(words)]
    }
  }
}
