import Bundles
import System

/// What the command line says.
struct BenchOptions: Sendable {
  /// What to do; the words after `shapes` are children that the others start.
  enum Task: String, Sendable {
    case help, bench, queries, reconcile, ingest, incremental, pack, briefcase, shapes
    case org, prime, download, sqlite, single, sync, night, intake, intakeFloor = "intake-floor"
    case renewal, renewalFloor = "renewal-floor", packing, verifying, sealing, assigned
    case c, python, fullText = "full-text"
  }

  /// A command line that cannot be read.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The variable in which a child gets the org's token.
  static let tokenVariable = "ATTACHE_BENCH_TOKEN"

  static let help = """
    attache-bench: workloads beside their floors

      attache-bench [--records N] [--base N] [--rounds N] [--directory PATH] [--live] [--json]
      attache-bench queries [--records N] [--directory PATH] [--json]
      attache-bench reconcile [--returns N] [--edits N] [--concurrency N] [--rounds N] [--directory PATH]
                             [--json]
      attache-bench incremental [--records N] [--rounds N] [--directory PATH] [--json]
      attache-bench ingest [--returns N] [--rounds N] [--directory PATH] [--json]
      attache-bench pack [--records N] [--rounds N] [--directory PATH] [--json]
      attache-bench briefcase [--users N] [--records N] [--latency N] [--rounds N] [--directory PATH] [--json]
      attache-bench shapes [--records N] [--large N] [--rounds N] [--directory PATH] [--live] [--json]

    Without a word it primes and asks; `queries` only asks a store by index, with a join and a count.
    `reconcile` sends a night's returns to a local org, one request at a time and several, at once and
    with 100 ms for each answer, and a larger night several times, also with faults.
    `incremental` primes by a pipeline, and again when none, 0.1, 1 and 10 % of the records have changed.
    `ingest` takes in a night's stores of 50 MB, one at a time and two at once, beside a program that only copies,
    hashes and checks the same files.
    `pack` packs and verifies a snapshot's bundles in each format, and seals its stores, beside a program that does
    the same by libarchive and libcrypto alone.
    `briefcase` primes many users by briefcase from an org whose answers take their time, and prints the least that
    its requests can take beside it.
    `shapes` primes twelve objects of mixed size, by finished pages and by SQLite's API, contacts by SQLite's API, and once
    ten million contacts, into both stores and into one. To make the pages of ten million contacts takes minutes and 15 GB
    the first time; 5 GB stay, and the stores take 20 GB for a while.

      --records N       records to prime, of `shapes` those of all twelve objects together, and of each soup that is asked
                        (1000000); of `pack` those of the store (100000), of `briefcase` those of each user (5000)
      --large N         contacts of the large prime of `shapes` (10000000)
      --base N          records of the smaller prime, whose memory is compared (500000)
      --returns N       returns of the larger night; the smaller has a tenth (1000); of `ingest` the stores (40)
      --edits N         edits of each return (100)
      --users N         users who are primed by briefcase (200)
      --latency N       milliseconds that each answer takes then (100)
      --concurrency N   requests at once (4)
      --rounds N        rounds of all arms, forwards and backwards (2); the large prime of `shapes` runs once
      --directory PATH  where pages are kept between runs and stores are written (Benchmarks/out); what was measured
                        stays there in bench.json
      --live            let the local org make every page anew, instead of serving recorded ones
      --json            one JSON document instead of a table

    It ends with 1 when a prime takes 160 MiB of resident memory or more, when the larger prime takes
    over 10 % more than the smaller one, when one store is primed less than 3.5 times as fast as by C through
    SQLite's API or less than 10 times as fast as by a Python script, when both stores take over 1.6 times one, or
    when a question takes over 1.2 times its SQL;
    `reconcile` when an edit is lost or told wrongly, when it takes over 1.1 times the least calls, less
    than 3 times the speed of one request at a time at 100 ms, a tenth more memory for the larger night, or
    more processor time for it, at its best, than a second for 5,000 edits;
    `incremental` when such a night takes over 1, 5 or 25 % of the first prime's processor time;
    `ingest` when one at a time takes over 1.5 times the floor, or two at once are less than 1.7 times as fast;
    `pack` when packing, which reads back, takes over 1.1 times the floors of packing and verifying, sealing over 1.1
    times its floor, or verifying over 1.2 times;
    `briefcase` when it takes over 1.2 times the least;
    `shapes` when a prime by finished pages takes 160 MiB of resident memory or more, or one by SQLite's API 64 MiB or more.

    """

  var task = Task.bench
  /// What was written.
  var words: [String] = []
  /// As many as the workload has, if nobody says.
  private var saidRecords: Int?
  var records: Int {
    if let saidRecords { return saidRecords }
    switch task {
    case .pack: return 100_000
    case .briefcase: return 5000
    default: return 1_000_000
    }
  }
  var base = 500_000
  /// The contacts of the large prime of `shapes`.
  var large = 10_000_000
  var rounds = 2
  /// As many as the workload has, if nobody says.
  var returns: Int?
  var edits = 100
  var users = 200
  /// What each answer of the org takes, in milliseconds.
  var latency = 100
  var concurrency = 4
  var directory = "Benchmarks/out"
  var isJSON = false
  var isLive = false
  /// For children: the format of the bundles.
  var format: BundleFormat?
  /// For children: what is primed, and served.
  var workload = Workload.Kind.contacts
  /// For children: SQLite's API writes, instead of finished pages.
  var isByStatements = false
  /// For children: the org's address.
  var url = ""
  /// For the org: it ends when this process has ended.
  var parent = 0

  init(_ words: [String]) throws(Failure) {
    self.words = words
    var rest = words[...]
    if let first = rest.first, let task = Task(rawValue: first) {
      self.task = task
      rest = rest.dropFirst()
    }
    while let word = rest.popFirst() {
      switch word {
      case "--help", "-h": task = .help
      case "--json": isJSON = true
      case "--live": isLive = true
      case "--records": saidRecords = try Self.number(word, &rest)
      case "--base": base = try Self.number(word, &rest)
      case "--large": large = try Self.number(word, &rest)
      case "--workload": workload = try Self.kind(word, &rest)
      case "--statements": isByStatements = true
      case "--rounds": rounds = try Self.number(word, &rest)
      case "--returns": returns = try Self.number(word, &rest)
      case "--users": users = try Self.number(word, &rest)
      case "--latency": latency = try Self.number(word, &rest)
      case "--format": format = BundleFormat(rawValue: try Self.value(word, &rest))
      case "--edits": edits = try Self.number(word, &rest)
      case "--concurrency": concurrency = try Self.number(word, &rest)
      case "--parent": parent = try Self.number(word, &rest)
      case "--directory": directory = try Self.value(word, &rest)
      case "--url": url = try Self.value(word, &rest)
      default: throw Failure(description: "\"\(word)\" is not known; see attache-bench --help")
      }
    }
    if !directory.hasPrefix("/") {
      directory = ProcessEnvironment.currentDirectory() + "/" + directory
    }
  }

  /// Says how far the bench is, beside its table.
  func note(_ text: String) {
    if !isJSON { ProcessEnvironment.write(2, text + "\n") }
  }

  private static func value(
    _ word: String, _ rest: inout ArraySlice<String>
  ) throws(Failure) -> String {
    guard let value = rest.popFirst() else { throw Failure(description: "\(word) needs a value") }
    return value
  }

  private static func kind(
    _ word: String, _ rest: inout ArraySlice<String>
  ) throws(Failure) -> Workload.Kind {
    let text = try value(word, &rest)
    guard let kind = Workload.Kind(rawValue: text) else {
      throw Failure(description: "\(word) is contacts or twelve, not \"\(text)\"")
    }
    return kind
  }

  private static func number(
    _ word: String, _ rest: inout ArraySlice<String>
  ) throws(Failure) -> Int {
    let text = try value(word, &rest)
    guard let number = Int(text), number > 0 else {
      throw Failure(description: "\(word) needs a number above 0, not \"\(text)\"")
    }
    return number
  }
}
