import JSON
import SmartStore
import System

/// A new pipeline: the settings chosen for it, and the files that contain them.
package struct PipelineDraft: Sendable {
  /// The name of the pipeline, of its file and of the directory of its store files.
  package let name: String
  /// The org's address, or its login host.
  package var url: TextSource
  package var login: LoginSettings
  /// The file of trusted authorities.
  package var caFile: String?
  /// The users whose snapshots are made.
  package var users: UserSelection.Source
  package var platforms: [Platform]
  /// The content of the store file and the sync file.
  package var store: StoreDraft
  /// Where editors find the schema of the pipeline file; nil for nowhere.
  package var schema: String?

  package init(
    name: String, url: TextSource, login: LoginSettings, caFile: String? = nil,
    users: UserSelection.Source, platforms: [Platform], store: StoreDraft
  ) {
    (self.name, self.url, self.login, self.caFile) = (name, url, login, caFile)
    (self.users, self.platforms, self.store) = (users, platforms, store)
  }

  /// The content of the pipeline file.
  private var json: JSONValue {
    JSONObject.of([
      ("$schema", schema.map(JSONValue.string)),
      ("format", JSONValue(Pipeline.newestFormat)), ("name", .string(name)),
      (
        "org",
        JSONObject.of([
          ("url", url.json), ("login", login.json), ("caFile", caFile.map(JSONValue.string)),
        ])
      ), ("users", .object(users.json)),
      ("stores", [["schema": .string(storeFile), "syncs": .string(syncsFile)]]),
      ("platforms", .array(platforms.map { .string($0.rawValue) })),
      ("prime", sharesOneView ? ["fetchAs": "integration"] : nil),
      ("reconcile", sharesOneView && store.sendsEdits ? ["sendAs": "integration"] : nil),
      ("keep", KeepSettings().json),
      ("notify", ["on": .array(NotifySettings().on.map { .string($0.rawValue) }), "command": []]),
    ])
  }

  /// A login that is a single user shows that user's view to every user.
  private var sharesOneView: Bool { login.isOneUser(of: users) && users.mayBeSeveral }

  private var storeFile: String { name + "/userstore.json" }
  private var syncsFile: String { name + "/usersyncs.json" }

  /// The files by their paths in a directory, the pipeline file last, because the others have no
  /// effect without it.
  var files: [(name: String, bytes: [UInt8])] {
    [
      (storeFile, store.schema), (syncsFile, store.syncs),
      (name + ".json", json.fileBytes),
    ]
  }

  /// Throws if the name is not one of a pipeline, or if one of the files already exists.
  package func expectNothing(in directory: String) throws(PipelineError) {
    if let fault = PipelineReader.fault(ofName: name) {
      throw PipelineError(.configuration, "init.name", fault.message, fix: fault.fix)
    }
    let existing = files.map { directory + "/" + $0.name }.filter { Files.exists($0) }
    if !existing.isEmpty {
      let isOne = existing.count == 1
      throw PipelineError(
        .configuration, "init.exists",
        "\(existing.joined(separator: ", ")) already \(isOne ? "exists" : "exist")",
        fix:
          "choose another name, or move the \(isOne ? "file" : "files") away: nothing was written")
    }
  }

  /// Writes the files into a directory, and reads them back as a run would.
  ///
  /// Existing files are left alone; if the files are faulty, nothing is written.
  ///
  /// - Throws: `Problems` of the files, `PipelineError` if one of them already exists,
  ///   `SystemError`.
  package func write(into directory: String, variables: [String: String]) throws -> Pipeline {
    try expectNothing(in: directory)
    let isNew = !Files.exists(directory + "/" + name)
    try Files.makeDirectory(directory + "/" + name)
    var made: [String] = []
    do {
      for file in files {
        let path = directory + "/" + file.name
        let new = try Files.createNew(path)
        made.append(path)
        try new.write(file.bytes)
        try new.synchronize()
      }
      return try PipelineFile.read(path: "\(directory)/\(name).json", variables: variables)
    } catch {
      for path in made { try? Files.remove(path) }
      if isNew, (try? Files.list(directory + "/" + name))?.isEmpty == true {
        try? Files.remove(directory + "/" + name)
      }
      throw error
    }
  }
}
