import Ledger
import System

/// Which directories are data directories, and which places a pipeline must not use for other files.
extension DataDirectory {
  /// The names of the files that every run creates in a pipeline's directory.
  private static let files: [String] = {
    let data = DataDirectory(root: "", name: "")
    return [data.state, data.stampKey, data.format, data.lock].map(Files.name)
  }()

  /// Whether a path is the directory of one pipeline: it has at least `count` of the files of a run.
  package static func isPipeline(_ path: String, having count: Int = 1) -> Bool {
    files.count { Files.exists(path + "/" + $0) } >= count
  }

  /// Whether a directory holds the directory of a pipeline.
  private static func holdsPipeline(_ path: String, having count: Int = 1) -> Bool {
    ((try? Files.list(path)) ?? []).contains {
      !$0.hasPrefix(".") && isPipeline(path + "/" + $0, having: count)
    }
  }

  /// Whether a path may be a data directory: it is empty, or a pipeline has files in it.
  ///
  /// A directory that cannot be listed counts as one.
  package static func isRoot(_ path: String) -> Bool {
    guard let names = try? Files.list(path).filter({ !$0.hasPrefix(".") }) else { return true }
    return names.isEmpty || holdsPipeline(path)
  }

  /// Returns the path of the inbox.
  ///
  /// A relative name is below the pipeline's directory.
  package func inbox(_ name: String) -> String {
    name.hasPrefix("/") ? name : path + "/" + name
  }

  /// The inbox directories of a pipeline, each with the key that names it.
  private func inboxes(of pipeline: Pipeline) -> [(path: String, key: String)] {
    var inboxes = [(inbox(pipeline.inbox.path), "path")]
    if case .directory(let path)? = pipeline.inbox.store { inboxes.append((path, "store")) }
    return inboxes
  }

  /// Whether an inbox name denotes the pipeline's directory itself, or a directory of attache's
  /// inside it.
  static func isOwn(_ name: String) -> Bool {
    let data = DataDirectory(root: "", name: "")
    let own =
      files
      + [
        data.processing, data.done, data.quarantine, data.reports, data.issued, data.tokens,
        data.snapshot(SnapshotID.global), data.path + "/users",
      ].map(Files.name)
    guard let first = name.split(separator: "/").first(where: { $0 != "." }) else { return true }
    return !name.hasPrefix("/") && own.contains(String(first))
  }

  /// Throws if the inbox contains files of attache's, which would be taken for returns, or if
  /// something that a run writes would be among returns or attache's files.
  package func checkPlaces(of pipeline: Pipeline) throws(PipelineError) {
    for (path, key) in inboxes(of: pipeline) { try checkInbox(at: path, key, of: pipeline) }
    try checkOutputs(of: pipeline)
  }

  private func checkInbox(
    at path: String, _ key: String, of pipeline: Pipeline
  ) throws(PipelineError) {
    let place = Files.resolvedAsFar(path)
    let home = Files.resolvedAsFar(self.path)
    let isOwn =
      Files.isWithin(place, home) && Self.isOwn(String(place.dropFirst(home.utf8.count + 1)))
    // One file of such a name may be anyone's.
    let isForeign =
      Self.holding(place, within: home).map { $0 != home } ?? Self.holdsPipeline(place, having: 2)
    let isNamed = (pipeline.namedFiles + [self.path]).contains {
      Files.isWithin(Files.resolvedAsFar($0), place)
    }
    guard isOwn || isForeign || isNamed else { return }
    throw PipelineError(
      .configuration, "inbox.own",
      "the inbox contains attache's own files, which would be taken for returns",
      location: place, fix: "name a separate directory as inbox.\(key)")
  }

  /// The directory of a pipeline that a directory is or is in; nil for an inbox of the usual name,
  /// and for a directory in none.
  ///
  /// What is above the pipeline's own directory `home` does not count.
  private static func holding(_ place: String, within home: String) -> String? {
    var (path, below) = (place, "")
    while true {
      if path == home { return home }
      if isPipeline(path, having: 2) { return below == "inbox" ? nil : path }
      below = Files.name(of: path)
      guard let parent = Files.parent(of: path), parent != path else { return nil }
      path = parent
    }
  }

  /// Throws if a file or directory that a run writes by its configuration would be in the data
  /// directory or in an inbox, or would replace a file that the pipeline names.
  package func checkOutputs(of pipeline: Pipeline) throws(PipelineError) {
    if let path = pipeline.report.metricsFile {
      try checkOutput("metrics file", at: path, named: "report.metricsFile", of: pipeline)
    }
    for (store, key) in [
      (pipeline.publish?.store, "publish.store"), (pipeline.work?.store, "work.store"),
    ] {
      guard case .directory(let path)? = store else { continue }
      try checkOutput(
        "directory", at: path + "/" + pipeline.name, named: key + ".directory", of: pipeline)
    }
  }

  /// Throws if a file or directory, such as a log file or the report of a dry run, would be written
  /// into the data directory or an inbox, or would replace a file that the pipeline names.
  package func checkOutput(
    _ what: String, at path: String, named name: String, of pipeline: Pipeline
  ) throws(PipelineError) {
    let place = Files.resolvedAsFar(path)
    let reserved = [self.path] + inboxes(of: pipeline).map(\.path) + pipeline.namedFiles
    guard reserved.contains(where: { Files.areNested(place, Files.resolvedAsFar($0)) }) else {
      return
    }
    throw PipelineError(
      .configuration, "output.place",
      "the \(what) would be among returns, or among the pipeline's own files", location: path,
      fix: "name another one in \(name), outside of the data directory, the inbox and the "
        + "pipeline's files")
  }
}
