import JSON

/// A prime that `ShapesBench` measures.
enum ShapeArm: CaseIterable {
  case twelve, twelveByStatements, contactsByStatements, large, largeOneStore

  /// Whether it has very many records, and runs only once.
  var isLarge: Bool { self == .large || self == .largeOneStore }

  /// Whether SQLite's API writes, instead of finished pages.
  var isByStatements: Bool { self == .twelveByStatements || self == .contactsByStatements }

  var workload: Workload.Kind {
    self == .twelve || self == .twelveByStatements ? .twelve : .contacts
  }

  /// The child's task.
  var task: BenchOptions.Task { self == .largeOneStore ? .single : .prime }

  /// The limit of its resident memory.
  var limitKiB: Int { isByStatements ? 64 << 10 : PrimeBench.limitKiB }

  var objects: String { workload == .twelve ? "twelve objects" : "contacts" }
  var stores: String { self == .largeOneStore ? "one" : "both" }
  var writer: String { isByStatements ? "SQLite's API" : "finished pages" }

  /// Its name outside a table.
  var name: String { "\(objects), \(stores), by \(writer)" }
}
