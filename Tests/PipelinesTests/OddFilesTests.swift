import JSON
import Pipelines
import Returns
import SQLite
import SmartStore
import System
import Testing

/// Whatever is in an inbox, the rest of the run continues.
@Suite struct OddFilesTests {
  /// Puts odd files of every kind with names of every shape into an inbox, and prints the names as
  /// a JSON array.
  ///
  /// `stores` are valid stores to put odd companions next to.
  private static let maker = """
    import io, json, os, random, socket, stat, sys, tarfile, zipfile, gzip
    inbox, bundle, seed, stores = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    draw = random.Random(seed)
    os.chdir(inbox)
    names, used = [], set()
    shapes = [lambda i: b"odd%d.db" % i, lambda i: b"odd %d" % i, lambda i: b"odd\\n%d.sqlite" % i,
      lambda i: b"\\x1b[31modd%d" % i, lambda i: ("\\u202eodd%d.zip" % i).encode(),
      lambda i: b"\\xff\\xfeodd%d.db" % i, lambda i: b"-rf odd%d" % i, lambda i: b"a'b\\"%d;--.db" % i,
      lambda i: (b"%03d" % i).ljust(249, b"n"), lambda i: (b"%03d" % i).ljust(251, b"n"),
      lambda i: (b"%03d" % i).ljust(255, b"n"),
      lambda i: ("\\u00e4\\U0001f4f1%d.tar.gz" % i).encode(), lambda i: b"odd%d.db.db" % i,
      lambda i: ("%03d" % i).encode() + "\\u00e9".encode() * 126]
    def name(plain=False):
        i = len(names) + 1
        made = shapes[0](i) if plain else draw.choice(shapes)(i)
        names.append(made)
        return made
    def put(content, mode=0o600, plain=False):
        made = name(plain)
        with open(made, "wb") as f: f.write(content)
        os.chmod(made, mode)
        return made
    def sock(path):
        # The address of a socket is short: it is bound elsewhere and moved here.
        s = socket.socket(socket.AF_UNIX); s.bind("s"); s.close(); os.rename("s", path)
    whole = open(bundle, "rb").read()
    def zipped(entries):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as f:
            for n, d in entries: f.writestr(n, d)
        return out.getvalue()
    def tarred(entries, mode="w:gz"):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode=mode) as f:
            for n, d in entries:
                m = tarfile.TarInfo(n); m.size = len(d); f.addfile(m, io.BytesIO(d))
        return out.getvalue()
    def sparse():
        made = name()
        with open(made, "wb") as f: f.truncate(1 << 43)
    def device(kind, number):
        if os.geteuid() == 0: os.mknod(name(), kind | 0o600, os.makedev(1, number))
    def tree():
        made = name(); os.makedirs(os.path.join(made, b"a", b"b"))
        with open(os.path.join(made, b"a", b"store.sqlite"), "wb") as f: f.write(b"x")
    def loop():
        one, two = name(), name(); os.symlink(one, two); os.symlink(two, one)
    def sibling(store, suffix, make):
        made = put(open(store, "rb").read(), plain=True)
        make(made + suffix)
    deep = "/".join(["d"] * 200) + "/store.sqlite"
    makers = [
      lambda: os.mkfifo(name()), lambda: sock(name()), lambda: device(stat.S_IFCHR, 3),
      lambda: device(stat.S_IFCHR, 8), lambda: device(stat.S_IFBLK, 0),
      lambda: os.symlink("/no/such/file", name()), lambda: os.symlink("/etc/passwd", name()),
      lambda: os.symlink(".", name()), loop, lambda: os.mkdir(name()), tree, sparse,
      lambda: put(b""), lambda: put(b"x"), lambda: put(b"SQLite format 3\\0"),
      lambda: put(b"\\0" * 5000), lambda: put(os.urandom(9000)), lambda: put(b"text", 0o000),
      lambda: put(b"more text", 0o4755), lambda: put(whole[:len(whole) // 2]),
      lambda: put(whole[:40]), lambda: put(whole[:len(whole) - 9]), lambda: put(whole + b"tail"),
      lambda: put(whole[:4]), lambda: put(zipped([("a.zip", zipped([("manifest.json", b"{}")]))])),
      lambda: put(gzip.compress(tarred([("manifest.json", b"{}")]))),
      lambda: put(gzip.compress(whole)), lambda: put(tarred([("inner.tar.zst", whole)])),
      lambda: put(zipped([(deep, b"x")])), lambda: put(tarred([(deep, b"x")])),
      lambda: put(zipped([("manifest.json", b"{" * 100000)])),
      lambda: put(zipped([("manifest.json", b'{"format":1,"stores":[]}')])),
      lambda: put(zipped([])), lambda: put(tarred([])), lambda: put(b"PK\\x03\\x04"),
      lambda: put(b"\\x1f\\x8b\\x08"), lambda: put(b"\\x28\\xb5\\x2f\\xfd" * 1000),
    ]
    companions = [lambda p: os.mkdir(p), lambda p: os.symlink("/no/such", p), lambda p: os.mkfifo(p),
      lambda p: os.symlink("/etc/passwd", p), sock]
    left = list(stores)
    for suffix in (b"-journal", b"-wal"):
        for make in companions:
            if left: makers.append(lambda s=left.pop(), x=suffix, m=make: sibling(s, x, m))
    draw.shuffle(makers)
    for make in makers: make()
    print(json.dumps([n.decode("utf-8", "replace") for n in names]))
    """

  private func python(_ script: String, _ arguments: [String]) throws -> JSONValue {
    let result = try ChildProcess.run("/usr/bin/env", ["python3", "-c", script] + arguments)
    let words = String(decoding: result.error, as: UTF8.self).split(separator: "\n").last ?? ""
    #expect(result.status == 0, "\(words)")
    return try JSONValue(parsing: result.output)
  }

  /// The reports of returns by name: those refused and those left in the inbox.
  private func odd(_ world: World) -> [String: String] {
    var told: [String: String] = [:]
    for event in world.told.withLock({ $0 }) {
      switch event {
      case .returnQuarantined(let name, let code, _), .returnLeft(let name, let code, _):
        told[name] = code
      default: break
      }
    }
    return told
  }

  @Test func `odd files in the inbox are named, and valid returns continue`() async throws {
    let seed = Int.random(in: 0..<1 << 32)
    print("odd files: seed \(seed)")
    let world = try World()
    let device = try await world.primed("ada")
    let other = try world.device("ben", .android)
    var stores: [String] = []
    for number in 0..<10 {
      let path = world.directory.file("store\(number)")
      try other.handBack(to: path, now: world.org.now())
      stores.append(path)
    }
    let account = try #require(try world.ids("accounts", on: device).first)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0160"], now: world.org.now())
    let made = try python(
      Self.maker, [world.data.inbox("inbox"), try world.bundle("cleo"), String(seed)] + stores)
    let names = try #require(made.array).compactMap(\.string)
    #expect(names.count >= 45)
    try world.handBack(device, as: "good.db")

    let summary = try await world.run()
    #expect(summary.returns.ingested == 1)
    #expect(summary.verdicts == [.updated: 1])
    #expect(summary.exitStatus == .needsAttention)
    #expect(try world.record("Account", account)["Phone"]?.string == "+1 555 0160")
    let told = odd(world)
    for name in names { #expect(told[name] != nil, "seed \(seed): \(name.debugDescription)") }
    #expect(Set(told.keys) == Set(names), "seed \(seed)")
    #expect(try Files.list(world.data.processing) == [])
    let quarantined = try Files.list(world.data.quarantine).filter { $0.hasSuffix(".reason.json") }

    // No file is ingested twice, and files left in the inbox are reported again.
    let again = try await world.run(.ingest, .reconcile)
    #expect(again.returns.ingested == 0)
    #expect(again.verdicts == [:])
    #expect(again.exitStatus == .needsAttention, "things are left in the inbox")
    #expect(
      try Files.list(world.data.quarantine).filter { $0.hasSuffix(".reason.json") } == quarantined)
  }

  /// Makes an element as long as one with a photograph, which a connection to an untrusted file
  /// does not read whole.
  private func lengthen(_ soup: String, id: String, in path: String) throws {
    let connection = try Connection(path)
    let number = try #require(
      try connection.integer("SELECT id FROM soup_attrs WHERE soupName = \(soup)"))
    try connection.execute(
      """
      UPDATE TABLE_\(number) SET soup = substr(soup, 1, length(soup) - 1) || ',"Photo":"'
        || hex(zeroblob(20000000)) || '"}' WHERE json_extract(soup, '$.Id') = '\(id)'
      """)
    connection.close()
  }

  @Test(arguments: [Platform.ios, .android])
  func
    `a row that is longer than is read stops nobody: a clean one is passed over, a changed one is told`(
      _ platform: Platform
    ) async throws
  {
    let world = try World()
    let device = try await world.primed("ada", platform)
    let ids = try world.ids("accounts", on: device)
    try #require(ids.count >= 3)
    try lengthen("accounts", id: ids[0], in: device.storePath)
    try device.edit("accounts", id: ids[1], ["Phone": "+1 555 0161"], now: world.org.now())
    try world.handBack(device, as: "clean.db", edited: ids[2], ["Phone": "+1 555 0162"])
    let clean = try await world.run(.ingest, .reconcile)
    #expect(clean.verdicts == [.updated: 2])
    #expect(clean.exitStatus == .done)
    try device.edit("accounts", id: ids[1], ["Phone": "+1 555 0163"], now: world.org.now())
    try device.edit("accounts", id: ids[2], ["Phone": "+1 555 0164"], now: world.org.now())
    try lengthen("accounts", id: ids[2], in: device.storePath)
    let changed = try await world.run(device, as: "changed.db", .ingest, .reconcile)
    #expect(changed.verdicts == [.updated: 1, .failed: 1])
    #expect(changed.exitStatus == .needsAttention)
    #expect(try world.record("Account", ids[1])["Phone"]?.string == "+1 555 0163")
    #expect(try world.record("Account", ids[2])["Phone"]?.string == "+1 555 0162")
  }

  /// A world in which ada has edited an account and returned her store as `ada.db`.
  private func handedBack(phone: JSONValue) async throws -> World {
    let world = try World()
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.db", edited: account, ["Phone": phone])
    return world
  }

  @Test func `unreadable issued records degrade the comparison, never refuse`() async throws {
    let world = try await handedBack(phone: "+1 555 0165")
    let issued = world.data.issued(1, of: try world.user("ada").id)
    try DurableFile.write(Array(try Files.read(issued).dropLast(20)), to: issued)
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.returns.ingested == 1)
    #expect(summary.verdicts == [.updated: 1])
    #expect(summary.warnings.contains { $0.hasPrefix("ada.db: ") && $0.contains("compared as") })
  }

  @Test func `a generation's unreadable record is reported once per return`() async throws {
    let world = try await handedBack(phone: "+1 555 0165")
    let record = world.data.generation(1, of: try world.user("ada").id) + "/generation.json"
    try DurableFile.write(Array("{".utf8), to: record)
    let summary = try await world.run(.ingest)
    #expect(summary.returns.ingested == 1)
    let words = "ada.db: its issued records cannot be read"
    #expect(summary.warnings.count { $0.hasPrefix(words) } == 1)
  }

  @Test func `a foreign file in processing is reported and counted`() async throws {
    let world = try await World.primed()
    try Files.makeDirectory(world.data.processing + "/somebody's")
    let summary = try await world.run(.ingest)
    #expect(odd(world) == ["somebody's": "return.unknown"])
    #expect(summary.exitStatus == .needsAttention)
    let status = try PipelineStatus.read(world.pipeline, root: world.root)
    #expect(status.processing == ["somebody's"])
    #expect(status.json["processing"]?.int == 1)
  }

  @Test func `returns taken by an interrupted run are ingested by the next`() async throws {
    let world = try await handedBack(phone: "+1 555 0166")
    let inbox = Inbox(directory: world.data.inbox("inbox"), root: world.data.path, settleSeconds: 0)
    let now = Clock.wallMilliseconds()
    let candidate = try #require(try inbox.candidates(now: now).first)
    _ = try inbox.take(candidate, now: now)
    #expect(try Files.list(inbox.directory) == [])
    let next = try await world.run(.ingest, .reconcile)
    #expect(next.returns.ingested == 1)
    #expect(next.verdicts == [.updated: 1])
    #expect(try Files.list(world.data.processing) == [])
    #expect(try await world.run(.ingest, .reconcile).returns.ingested == 0)
  }

  @Test func `a file that may still be written waits for a run without a finding`() async throws {
    let world = try World { $0.replacing("\"settleSeconds\": 0", with: "\"settleSeconds\": 600") }
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.db", edited: account, ["Phone": "+1 555 0167"])
    let path = world.data.inbox("inbox") + "/ada.db"
    let first = try await world.run(.ingest, .reconcile)
    #expect(first.returns.ingested == 0)
    #expect(first.exitStatus == .done)
    #expect(Files.exists(path))
    try Files.setModificationTime(
      of: path, nanoseconds: (Clock.wallMilliseconds() - 601_000) * 1_000_000)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
  }
}
