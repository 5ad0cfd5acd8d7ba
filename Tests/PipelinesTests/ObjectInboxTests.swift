import JSON
import Ledger
import ObjectStore
import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

/// Returns that arrive in an object store, whatever the store is.
@Suite struct ObjectInboxTests {
  typealias Kind = PublishScene.Kind

  /// A pipeline that collects returns from a store, and a phone's store with an edit.
  struct Scene: Sendable {
    let scratch = TemporaryDirectory("collected")
    let world: World
    let store: any ObjectStore

    /// Sets members of the pipeline's inbox; `STORE` is replaced by the section of the store.
    init(
      _ kind: Kind, inbox: String = #""settleSeconds": 0"#, pageObjects: Int = 1000
    ) async throws {
      var limits = S3Store.Limits()
      limits.pageObjects = pageObjects
      let (store, section) = try PublishScene.store(kind, scratch.path, limits: limits)
      self.store = store
      let settings = inbox.replacing("STORE", with: section)
      world = try World {
        $0.replacing(#""inbox": { "settleSeconds": 0 }"#, with: #""inbox": { \#(settings) }"#)
      }
      try await world.run()
    }

    /// The content of a new phone's store, in which the phone changed an account.
    func returned(_ phone: String) throws -> ObjectContent {
      let device = try world.device("ada", as: phone)
      let account = try #require(try world.ids("accounts", on: device).first)
      try device.edit("accounts", id: account, ["Phone": .string(phone)], now: world.org.now())
      let file = scratch.file(phone)
      try device.handBack(to: file, now: world.org.now())
      return try ObjectContent(file: file)
    }

    @discardableResult
    func put(_ key: String, _ content: ObjectContent) async throws -> ObjectVersion {
      try await store.put(key, content, if: .absent)
    }

    func ingest(
      from other: DyingStore? = nil, isDryRun: Bool = false
    ) async throws -> RunSummary {
      try await world.run(.ingest) { ($0.returnStore, $0.isDryRun) = (other ?? store, isDryRun) }
    }

    /// A store that fails or changes before a request.
    func dying(
      _ request: DyingStore.Request, _ key: String? = nil,
      _ action: @escaping @Sendable () async throws(ObjectStoreError) -> Void
    ) -> DyingStore {
      DyingStore(store) { now, nowKey throws(ObjectStoreError) in
        if now == request, key == nil || key == nowKey { try await action() }
      }
    }

    func keys() async throws -> [String] { try await store.list("").map(\.key) }

    func isRecorded(_ content: String) throws -> Bool {
      if Files.exists(world.data.quarantine + "/" + content) { return true }
      let ledger = try LedgerDatabase(path: world.data.state)
      defer { ledger.close() }
      return try ledger.returned(sha256: content) != nil
    }

    /// The codes of the files left, by name.
    var left: [String: String] {
      world.told.withLock { $0 }.reduce(into: [:]) {
        if case .returnLeft(let name, let code, _) = $1 { $0[name] = code }
      }
    }
  }

  private static func text(_ text: String) -> ObjectContent { ObjectContent(Array(text.utf8)) }

  @Test(arguments: Kind.installed)
  func `a collection that ends between any two requests is completed, and takes nothing twice`(
    _ kind: Kind
  ) async throws {
    let scene = try await Scene(kind)
    let (data, copy) = (scene.world.data.path, scene.scratch.file("copy"))
    try Tree.copy(data, to: copy)
    let (one, two) = (try scene.returned("one"), try scene.returned("two"))
    // Two of equal content, and one that is not a store.
    let contents = ["a/1.db": one, "b/1.db": two, "c/1.db": one, "note.txt": Self.text("no store")]
    var requests = 0
    var isWhole = false
    while !isWhole {
      try Tree.copy(copy, to: data)
      for (key, content) in contents { try await scene.put(key, content) }
      let first = try await scene.ingest(from: DyingStore(scene.store, after: requests))
      isWhole = !first.findings.contains(.limitReached)
      let left = try await scene.keys()
      #expect(left.isEmpty || !isWhole)
      for (key, content) in contents where !left.contains(key) {
        #expect(try scene.isRecorded(content.sha256), "\(key) after \(requests)")
      }
      let second = try await scene.ingest()
      #expect(!second.findings.contains(.limitReached))
      #expect(first.returns.ingested + second.returns.ingested == 2)
      #expect(first.edits.new + second.edits.new == 2)
      #expect(try await scene.keys() == [])
      #expect(try scene.world.editVerdicts().count == 2)
      for content in contents.values { #expect(try scene.isRecorded(content.sha256)) }
      #expect(try Files.list(scene.world.data.processing) == [])
      requests += 1
      try #require(requests < 100)
    }
    // The list, and each object, which is fetched and removed.
    #expect(requests == 1 + 4 * 2 + 1)
  }

  @Test(arguments: Kind.installed)
  func `an object that is replaced before it is fetched is taken by the next run`(
    _ kind: Kind
  ) async throws {
    let scene = try await Scene(kind)
    let old = try await scene.put("phone.db", try scene.returned("one"))
    let (new, isFirst) = (try scene.returned("two"), Locked(true))
    let replaced = scene.dying(.get) { () throws(ObjectStoreError) in
      let isDue = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if !isDue { return }
      try await scene.store.put("phone.db", new, if: .matching(old))
    }
    let first = try await scene.ingest(from: replaced)
    #expect(first.returns.ingested == 0 && first.returns.left == 1)
    #expect(scene.left == ["phone.db": "return.changing"])
    let second = try await scene.ingest()
    #expect(second.returns.ingested == 1 && second.edits.new == 1)
    #expect(try scene.isRecorded(new.sha256))
    #expect(try await scene.keys() == [])
  }

  @Test(arguments: Kind.installed)
  func `an object that is replaced before it is removed stays, and is taken by the next run`(
    _ kind: Kind
  ) async throws {
    let scene = try await Scene(kind)
    let (one, two) = (try scene.returned("one"), try scene.returned("two"))
    let old = try await scene.put("phone.db", one)
    let replaced = scene.dying(.delete) { () throws(ObjectStoreError) in
      try await scene.store.put("phone.db", two, if: .matching(old))
    }
    let first = try await scene.ingest(from: replaced)
    #expect(first.returns.ingested == 1 && first.returns.left == 0)
    #expect(try await scene.keys() == ["phone.db"])
    #expect(try await scene.ingest().returns.ingested == 1)
    #expect(try await scene.keys() == [])
    #expect(try scene.world.editVerdicts().count == 2)
  }

  @Test(arguments: Kind.installed)
  func `objects that the store does not remove are reported, and removed by a later run`(
    _ kind: Kind
  ) async throws {
    let scene = try await Scene(kind)
    try await scene.put("ada/phone.db", try scene.returned("one"))
    let refusing = scene.dying(.delete) { () throws(ObjectStoreError) in
      throw ObjectStoreError(.denied("no deletions"), "the store")
    }
    for isFirst in [true, false] {
      let run = try await scene.ingest(from: refusing)
      #expect(run.returns.ingested == (isFirst ? 1 : 0))
      #expect(run.returns.known == (isFirst ? 0 : 1))
      #expect(run.returns.left == 1 && run.exitStatus == .needsAttention)
      #expect(scene.left == ["ada_phone.db": "return.not-removed"])
    }
    let last = try await scene.ingest()
    #expect(last.returns.known == 1 && last.returns.left == 0 && last.exitStatus == .done)
    #expect(try await scene.keys() == [])
    #expect(try scene.world.editVerdicts().count == 1)
  }

  @Test(
    arguments: [
      (.page, .unreachable("no route"), .limitReached), (.page, .denied("no"), .loginFailed),
      (.page, .refused("NoSuchBucket"), .notCollected),
      (.get, .unreachable("no route"), .limitReached),
      (.delete, .unreachable("no route"), .limitReached),
    ] as [(DyingStore.Request, ObjectStoreError.Kind, RunFinding)])
  func `a store that fails is a finding, and returns of the inbox directory are taken`(
    _ request: DyingStore.Request, _ fault: ObjectStoreError.Kind, _ finding: RunFinding
  ) async throws {
    let scene = try await Scene(.directory)
    try await scene.put("phone.db", try scene.returned("one"))
    _ = try scene.returned("two")
    try Files.copy(scene.scratch.file("two"), to: scene.world.data.inbox("inbox") + "/two.db")
    let failing = scene.dying(request) { () throws(ObjectStoreError) in
      throw ObjectStoreError(fault, "the store")
    }
    let run = try await scene.ingest(from: failing)
    #expect(run.findings.contains(finding), "\(run.findings)")
    #expect(run.exitStatus == finding.exitStatus)
    #expect(run.warnings.contains { $0.contains("returns were not collected: ") })
    #expect(run.returns.ingested == (request == .delete ? 2 : 1))
    #expect(try await scene.keys() == ["phone.db"])
    #expect(try await scene.ingest().exitStatus == .done)
    #expect(try await scene.keys() == [])
    #expect(try scene.world.editVerdicts().count == 2)
  }

  @Test(arguments: Kind.installed)
  func `all objects are taken in the order of their arrival, however many there are`(
    _ kind: Kind
  ) async throws {
    let scene = try await Scene(kind, pageObjects: 100)
    // Uploads in progress fill the first page of a list.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...105 {
        group.addTask { try await scene.put("a/\(number).part", Self.text("")) }
      }
      for number in 1...8 {
        group.addTask { try await scene.put("b/\(number).db", Self.text("no store \(number)")) }
      }
      try await group.waitForAll()
    }
    try await scene.put("c/phone.db", try scene.returned("one"))
    let run = try await scene.ingest()
    #expect(run.returns == (ingested: 1, known: 0, quarantined: 8, left: 0))
    let names = scene.world.told.withLock { $0 }.compactMap { event -> String? in
      if case .returnIngested(let name, _, _, _, _, _) = event { name } else { nil }
    }
    #expect(names == ["c_phone.db"])
    #expect(try await scene.keys().count == 105)
  }

  @Test(arguments: Kind.installed)
  func `what cannot be a return stays in the store with a reason`(_ kind: Kind) async throws {
    let scene = try await Scene(
      kind, inbox: #""settleSeconds": 0, "limits": { "fileMiB": 8 }"#)
    let (one, two) = (try scene.returned("one"), try scene.returned("two"))
    let large = ObjectContent([UInt8](repeating: 7, count: (16 << 20) + 1))
    var reasons = [
      "a/phone.db": "return.log", "a/phone.db-wal": "return.alone",
      "lonely.db-shm": "return.alone", "large.zip": "return.too-large",
      "denied.db": "return.unreadable",
    ]
    let ignored = ["b.tmp", "c/d.part"] + (kind == .s3 ? ["a/.hidden", "folder/"] : [])
    for key in reasons.keys.sorted() + ignored {
      try await scene.put(key, key == "large.zip" ? large : one)
    }
    let keys = (reasons.keys + ignored).sorted()
    if kind == .directory {
      let script = """
        cd "$1" && ln -s /etc/passwd a/link.db && mkfifo pipe.db upload.part &&
        echo > "$(printf 'ada\\377.db')"
        """
      let directory = scene.scratch.file("store")
      #expect(try ChildProcess.run("/bin/sh", ["-c", script, "sh", directory]).status == 0)
      for name in ["a/link.db", "pipe.db"] { reasons[name] = "return.archive" }
      reasons["ada\u{FFFD}.db"] = "return.name"
    }
    // These have the same name as files.
    try await scene.put("x/y.db", one)
    try await scene.put("x_y.db", two)
    let fetched = Locked<Set<String>>([])
    let store = DyingStore(scene.store) { request, key throws(ObjectStoreError) in
      if request == .get { fetched.withLock { _ = $0.insert(key) } }
      if request == .get, key == "denied.db" {
        throw ObjectStoreError(.denied("InvalidObjectState"), key)
      }
    }
    let run = try await scene.ingest(from: store)
    #expect(run.returns.ingested == 2 && run.returns.left == reasons.count)
    let names = reasons.map { ($0.key.replacing("/", with: "_"), $0.value) }
    #expect(scene.left == Dictionary(uniqueKeysWithValues: names))
    #expect(fetched.withLock { $0 } == ["denied.db", "x/y.db", "x_y.db"])
    #expect(try await scene.keys() == keys)
  }

  @Test(arguments: Kind.installed)
  func `an object is taken only when it is old enough`(_ kind: Kind) async throws {
    let scene = try await Scene(kind, inbox: #""settleSeconds": 3600"#)
    try await scene.put("phone.db", try scene.returned("one"))
    let run = try await scene.ingest()
    #expect(run.returns == (ingested: 0, known: 0, quarantined: 0, left: 0))
    #expect(try await scene.keys() == ["phone.db"])
  }

  @Test(arguments: Kind.installed)
  func `a dry run names the returns of the store, and leaves everything as it is`(
    _ kind: Kind
  ) async throws {
    let scene = try await Scene(kind)
    try await scene.put("phone.db", try scene.returned("one"))
    try await scene.put("note.txt", Self.text("no store"))
    let before = try Tree.entries(scene.world.data.path)
    let run = try await scene.ingest(isDryRun: true)
    #expect(run.plan.contains("ingest: phone.db has 1 edit, 1 of them new"), "\(run.plan)")
    #expect(run.plan.contains { $0.hasPrefix("ingest: note.txt will be quarantined: ") })
    #expect(try await scene.keys() == ["note.txt", "phone.db"])
    #expect(try Tree.entries(scene.world.data.path) == before)
  }

  @Test func `a store that contains attache's own files is refused`() async throws {
    let scene = try await Scene(.directory)
    var pipeline = scene.world.pipeline
    pipeline.inbox.store = .directory(scene.world.root)
    await #expect(throws: PipelineError.self) {
      try await PipelineRun.execute(
        pipeline, root: scene.world.root, variables: scene.world.variables, options: RunOptions(),
        report: { _ in })
    }
  }

  @Test(arguments: Kind.installed)
  func `the command line collects returns, and shows no secret`(_ kind: Kind) async throws {
    let scene = try await Scene(kind, inbox: #""settleSeconds": 0, "store": STORE"#)
    try await scene.put("ada/phone.db", try scene.returned("one"))
    let log = scene.scratch.file("log")
    let run = try await scene.world.program(
      ["run"], ["--only", "ingest", "--json", "--log-file", log])
    #expect(run.status == 0, "\(run.everything)")
    #expect(run.output.contains(#""type":"returnIngested","name":"ada_phone.db""#))
    #expect(try await scene.keys() == [])
    let logged = String(decoding: try Files.read(log), as: UTF8.self)
    if let s3 = ForeignS3.shared { #expect(!(run.everything + logged).contains(s3.secret)) }
  }
}
