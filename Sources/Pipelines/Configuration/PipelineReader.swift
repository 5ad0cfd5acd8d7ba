import JSON
import MobileSync
import SmartStore
import System

/// Reads one pipeline file: the sections one by one, then the checks between them.
struct PipelineReader {
  let reader: ConfigurationReader
  let directory: String
  /// The faults in the files that this file names.
  var otherProblems: [Problem] = []
  /// Remarks that are not faults.
  var notes: [String] = []
  /// The secrets and the files of authorities that are not there.
  var missing: [Problem] = []
  /// The store files read so far, by path, because stores may share one.
  private var schemas: [String: StoreConfig] = [:]
  private var syncFiles: [String: SyncsConfig] = [:]
  /// The buckets whose access key must be in the environment.
  private var buckets: [JSONNode] = []
  /// The secrets that a run needs and that are not the output of a program.
  private(set) var secrets: [(node: JSONNode, source: SecretSource)] = []

  init(reader: ConfigurationReader, directory: String) {
    self.reader = reader
    self.directory = directory
  }

  mutating func pipeline(_ whole: JSONNode) -> Pipeline? {
    if reader.isOther(whole, than: .pipeline) { return nil }
    let node = withoutFormer(whole)
    guard let root = reader.object(node, known: Pipeline.keys, what: "a pipeline file") else {
      return nil
    }
    reader.refuseNUL(in: node)
    // A failing notification is only a warning of the run, so its secrets are not required.
    findSecrets(node.removing(["notify"]))
    checkFormat(root)
    let stem = PipelineFile.stem(of: reader.file)
    let name = root.requiredText("name", JSONText.quoted(Self.plain(stem)))
    if let name, let node = root["name"] { check(name: name, node) }
    let org = section(root, "org", OrgSettings.keys, "an org", "{\"url\": …, \"login\": … }")
      .flatMap { OrgSettings($0, in: directory) }
    let users = section(
      root, "users", UserSelection.keys, "a selection of users", "{\"list\": [\"ada@example.com\"]}"
    )
    .flatMap { UserSelection($0, in: directory) }
    let platforms: [Platform] = root.words("platforms", "a platform", default: [])
    if root.required("platforms", "[\"ios\", \"android\"]") != nil,
      root["platforms"]?.array?.isEmpty == true,
      let node = root["platforms"]
    {
      reader.report(
        node, "a pipeline without platforms builds nothing", "write [\"ios\", \"android\"]")
    }
    let stores = readStores(root, platforms)
    func optional(_ name: String, _ keys: [String], _ what: String) -> ConfigurationObject? {
      root.object(name, known: keys, what: what)
    }
    let prime = optional("prime", PrimeSettings.keys, "the section prime")
    let pack = optional("pack", PackSettings.keys, "the section pack")
    let publish = optional("publish", PublishSettings.keys, "the section publish")
    let work = optional("work", WorkSettings.keys, "the section work")
    let inbox = optional("inbox", InboxSettings.keys, "the section inbox")
    let reconcile = optional("reconcile", ReconcileSettings.keys, "the section reconcile")
    let report = optional("report", ReportSettings.keys, "the section report")
    let notify = optional("notify", NotifySettings.keys, "the section notify")
    let keep = optional("keep", KeepSettings.keys, "the section keep")
    let limits = optional("limits", LimitSettings.keys, "the section limits")
    let primeSettings = prime.map { PrimeSettings($0) } ?? PrimeSettings()
    let packSettings = pack.map { PackSettings($0, in: directory) } ?? PackSettings()
    let inboxSettings = inbox.map { InboxSettings($0, in: directory) } ?? InboxSettings()
    let reconcileSettings = reconcile.map { ReconcileSettings($0) } ?? ReconcileSettings()
    let reportSettings = report.map { ReportSettings($0) } ?? ReportSettings()
    let notifySettings = notify.map { NotifySettings($0, in: directory) } ?? NotifySettings()
    let keepSettings = KeepSettings(keep, bundlesAreGood: packSettings.expiresAfterDays)
    let limitSettings = limits.map { LimitSettings($0) } ?? LimitSettings()
    let publishSettings = publish.flatMap { section in
      root["publish"].flatMap { PublishSettings(section, $0, in: directory) }
    }
    let workSettings = work.flatMap { WorkSettings($0, in: directory) }
    buckets = Self.buckets(of: publishSettings, workSettings, inboxSettings, node)
      .filter { $0.bucket.accessKeyId == nil }.map(\.section)
    guard let name, let org, let users else { return nil }
    var pipeline = Pipeline(
      file: reader.file, called: PipelineFile.called(reader.file), directory: directory, name: name,
      org: org, users: users, stores: stores,
      platforms: platforms, prime: primeSettings, pack: packSettings, inbox: inboxSettings,
      reconcile: reconcileSettings, report: reportSettings, notify: notifySettings,
      keep: keepSettings,
      limits: limitSettings)
    (pipeline.publish, pipeline.work) = (publishSettings, workSettings)
    check(pipeline, node)
    return pipeline
  }

  private func section(
    _ root: ConfigurationObject, _ name: String, _ keys: [String], _ what: String,
    _ example: String
  ) -> ConfigurationObject? {
    root.required(name, example).flatMap { reader.object($0, known: keys, what: what) }
  }

  private func checkFormat(_ root: ConfigurationObject) {
    guard let node = root.required("format", "1"),
      let format = reader.int(node, in: 1...Int.max)
    else { return }
    if format > Pipeline.newestFormat {
      reader.report(
        node, "format \(format) is newer than this attache supports (\(Pipeline.newestFormat))",
        "install a newer attache")
    }
  }

  private func check(name: String, _ node: JSONNode) {
    if let fault = Self.fault(ofName: name) { reader.report(node, fault.message, fault.fix) }
  }

  /// The reason that a name is not one of a pipeline, and the fix; nil if it is one.
  static func fault(ofName name: String) -> (message: String, fix: String)? {
    let isPlain = name.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
    }
    guard !isPlain || name.utf8.count > 40 else { return nil }
    return (
      "\(JSONText.quoted(name)) is not a pipeline name: use a to z, 0 to 9 and -, at most 40",
      "write \(JSONText.quoted(plain(name)))"
    )
  }

  /// Returns the nearest name of a pipeline.
  private static func plain(_ name: String) -> String {
    let characters = name.lowercased().map {
      "abcdefghijklmnopqrstuvwxyz0123456789".contains($0) ? $0 : "-"
    }
    return String(String(characters).prefix(40))
  }

  private mutating func readStores(
    _ root: ConfigurationObject, _ platforms: [Platform]
  ) -> [StoreSettings] {
    let example = "[{\"schema\": \"userstore.json\", \"syncs\": \"usersyncs.json\"}]"
    guard let node = root.required("stores", example), let elements = root.elements("stores") else {
      return []
    }
    if elements.isEmpty {
      reader.report(node, "a pipeline without stores builds nothing", "write \(example)")
    }
    var stores: [StoreSettings] = []
    var lines: [Int] = []
    for element in elements {
      guard let store = store(element, platforms) else { continue }
      report(store, element, twinOf: stores, lines, platforms)
      stores.append(store)
      lines.append(element.line)
    }
    return stores
  }

  private mutating func store(_ node: JSONNode, _ platforms: [Platform]) -> StoreSettings? {
    guard let object = reader.object(node, known: StoreSettings.keys, what: "a store") else {
      return nil
    }
    let scope = object.word("scope", "a scope", default: StoreScope.user)
    let storeName = object.text("storeName") ?? StoreLocation.defaultStoreName
    if let name = object["storeName"] { check(storeName: storeName, scope, platforms, name) }
    let schemaNode = object.required("schema", "\"userstore.json\"")
    let syncsNode = object.required("syncs", "\"usersyncs.json\"")
    let schemaFile = object.text("schema").map { ConfigurationReader.join(directory, $0) }
    let syncsFile = object.text("syncs").map { ConfigurationReader.join(directory, $0) }
    let schema = schemaFile.flatMap { path in schemaNode.flatMap { loadSchema(path, $0) } }
    let syncs = syncsFile.flatMap { path in
      syncsNode.flatMap { loadSyncs(path, $0, schema.map { ($0, schemaFile ?? "") }, platforms) }
    }
    guard let schemaFile, let syncsFile else { return nil }
    let down = names(object, "prime", .syncDown, syncs, syncsFile)
    let up = names(object, "reconcile", .syncUp, syncs, syncsFile)
    return StoreSettings(
      scope: scope, storeName: storeName, schemaFile: schemaFile, syncsFile: syncsFile,
      schema: schema ?? StoreConfig(soups: []), syncs: syncs ?? SyncsConfig(syncs: []),
      prime: down, reconcile: up)
  }

  private func load(_ path: String, _ node: JSONNode) -> [UInt8]? {
    do throws(SystemError) {
      let bytes = try Files.read(path, limit: PipelineFile.limitBytes)
      checkWritable(path, node)
      return bytes
    } catch {
      reader.report(
        node, "\(path) cannot be read: \(error.reason)",
        "paths are relative to the pipeline file's directory")
      return nil
    }
  }

  /// Reports a world-writable file.
  func checkWritable(_ path: String, _ node: JSONNode? = nil) {
    guard let fault = PipelineFile.fault(ofModeOf: path) else { return }
    if let node {
      reader.report(node, fault.message, fault.fix)
    } else {
      reader.report(fault.message, fault.fix)
    }
  }

  private mutating func loadSchema(_ path: String, _ node: JSONNode) -> StoreConfig? {
    if let known = schemas[path] { return known }
    guard let bytes = load(path, node) else { return nil }
    let reader = ConfigurationReader(file: path)
    let config = StoreConfig.read(bytes, reader)
    otherProblems += reader.sorted
    schemas[path] = config
    return reader.problems.isEmpty || !config.soups.isEmpty ? config : nil
  }

  private mutating func loadSyncs(
    _ path: String, _ node: JSONNode, _ schema: (StoreConfig, String)?, _ platforms: [Platform]
  ) -> SyncsConfig? {
    if let known = syncFiles[path] { return known }
    guard let bytes = load(path, node) else { return nil }
    let reader = ConfigurationReader(file: path)
    let config = SyncsConfig.read(bytes, reader)
    if let schema { config.check(against: schema.0, storeFile: schema.1, reader) }
    config.check(for: platforms, reader)
    otherProblems += reader.sorted
    syncFiles[path] = config
    return reader.problems.isEmpty || !config.syncs.isEmpty ? config : nil
  }

  /// Returns the syncs that a store names under `key`, or all syncs of that direction.
  private func names(
    _ object: ConfigurationObject, _ key: String, _ type: SyncType, _ syncs: SyncsConfig?,
    _ file: String
  ) -> [String] {
    let known = syncs?.syncs.filter { $0.syncType == type }.map(\.syncName) ?? []
    guard let node = object[key] else { return known }
    guard let names = reader.strings(node, example: "[\"…\"]") else { return [] }
    guard let syncs else { return names }
    for (name, element) in zip(names, node.array ?? []) {
      let quoted = JSONText.quoted(name)
      if names.count(where: { $0 == name }) > 1 {
        let first = zip(names, node.array ?? []).first { $0.0 == name }
        if first?.1.column != element.column || first?.1.line != element.line {
          reader.report(element, "\(quoted) is listed twice", "remove one")
        }
      }
      guard let sync = syncs[name] else {
        // An invalid definition has already been reported.
        if syncs.declares(name) { continue }
        reader.report(
          element, "there is no sync \(quoted) in \(file)",
          ConfigurationReader.oneOf(known, near: name))
        continue
      }
      guard sync.syncType != type else { continue }
      let other = type == .syncDown ? ("a sync up", "reconcile") : ("a sync down", "prime")
      reader.report(element, "\(quoted) is \(other.0)", "move it to \"\(other.1)\"")
    }
    return names
  }

  /// Collects the secrets that the file names, by their forms.
  private mutating func findSecrets(_ node: JSONNode) {
    // Its members are values.
    if node.path == "prime.variables" { return }
    if let members = node.members {
      if members.count == 1, let member = members.first, let text = member.value.string {
        switch member.name {
        case "env": secrets.append((member.value, .env(text)))
        case "file":
          secrets.append((member.value, .file(ConfigurationReader.join(directory, text))))
        case "credential": secrets.append((member.value, .credential(text)))
        default: break
        }
      }
      for member in members { findSecrets(member.value) }
    }
    for element in node.array ?? [] { findSecrets(element) }
  }

  /// Reports each environment variable that is not set and that a run needs.
  func checkVariables(_ set: [String: String]) {
    for (node, message, fix) in missingVariables(set) { reader.report(node, message, fix) }
  }

  /// The environment variables that are not set and that a run needs.
  func missingVariables(_ set: [String: String]) -> [(JSONNode, message: String, fix: String)] {
    var missing = missingAccessKeys(set)
    for case (let node, .env(let name)) in secrets where (set[name] ?? "").isEmpty {
      let unset = SecretSource.unset(name)
      missing.append((node, unset.message, unset.fix))
    }
    return missing
  }

  private func missingAccessKeys(
    _ set: [String: String]
  ) -> [(JSONNode, message: String, fix: String)] {
    let missing = S3Settings.keyVariables.filter { (set[$0] ?? "").isEmpty }
    if missing.isEmpty { return [] }
    let (verb, object) = missing.count == 1 ? ("is", "it") : ("are", "them")
    return buckets.map { bucket in
      (
        bucket,
        "the bucket has no access key: \(missing.joined(separator: " and ")) \(verb) not set",
        "set \(object), or write \"accessKeyId\" and \"secretAccessKey\""
      )
    }
  }

  /// The buckets of a pipeline, each with its section of the file.
  static func buckets(
    of publish: PublishSettings?, _ work: WorkSettings?, _ inbox: InboxSettings, _ root: JSONNode
  ) -> [(bucket: S3Settings, section: JSONNode)] {
    [
      (publish?.store, root["publish"]), (work?.store, root["work"]),
      (inbox.store, root["inbox"]),
    ].compactMap { store, section in
      guard case .s3(let bucket)? = store, let node = section?["store"]?["s3"] else { return nil }
      return (bucket, node)
    }
  }
}
