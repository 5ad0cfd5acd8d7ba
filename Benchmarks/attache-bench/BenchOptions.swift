import Bundles
import System

/// The command-line options.
struct BenchOptions: Sendable {
  /// The task; those after `shapes` are child processes started by the others.
  enum Task: String, Sendable {
    case help, bench, queries, reconcile, ingest, incremental, pack, briefcase, fleet, workers
    case shapes
    case org, prime, download, sqlite, single, sync, night, intake, intakeFloor = "intake-floor"
    case renewal, renewalFloor = "renewal-floor", packing, verifying, sealing, assigned
    case divided
    case c, python, fullText = "full-text"
  }

  /// An invalid command line.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The variable that passes the org's token to a child.
  static let tokenVariable = "ATTACHE_BENCH_TOKEN"

  static let help = """
    attache-bench: compare workloads with their floors

      attache-bench [--records N] [--base N] [--rounds N] [--directory PATH] [--live] [--json]
      attache-bench queries [--records N] [--directory PATH] [--json]
      attache-bench reconcile [--returns N] [--edits N] [--concurrency N] [--rounds N] [--directory PATH]
                             [--json]
      attache-bench incremental [--records N] [--rounds N] [--directory PATH] [--json]
      attache-bench ingest [--returns N] [--rounds N] [--directory PATH] [--json]
      attache-bench pack [--records N] [--rounds N] [--directory PATH] [--json]
      attache-bench briefcase [--users N] [--records N] [--latency N] [--rounds N] [--directory PATH] [--json]
      attache-bench fleet [--users N] [--records N] [--latency N] [--directory PATH] [--json]
      attache-bench workers [--users N] [--records N] [--latency N] [--directory PATH] [--json]
      attache-bench shapes [--records N] [--large N] [--rounds N] [--directory PATH] [--live] [--json]

    Without a task, it primes and queries. `queries` only queries a store: by index, with a join, and a count.
    `reconcile` sends a run's returns to a local org, with one request at a time and with several, immediately and
    with 100 ms for each answer, and a larger run several times, also with faults.
    `incremental` primes with a pipeline, and again after none, 0.1, 1 and 10 % of the records have changed.
    `ingest` ingests a run's stores of 50 MB, one at a time and two in parallel, and compares them with a program
    that only copies, hashes and checks the same files.
    `pack` packs and verifies a snapshot's bundles in each format, and seals its stores, and compares this with a
    program that does the same with libarchive and libcrypto alone.
    `briefcase` primes many users by briefcase from an org with delayed answers, and prints the minimum time of its
    requests.
    `fleet` primes many users who see nine of ten contacts in common, and counts calls, records and bytes.
    `workers` primes such a fleet in one process, one user at a time, and by two workers that do the same, whose results
    a run collects.
    `shapes` primes twelve objects of mixed size, by finished pages and by SQLite's API, contacts by SQLite's API, and once
    ten million contacts, into both stores and into one. The first time, making the pages of ten million contacts takes
    minutes and 15 GB; 5 GB are kept, and the stores temporarily take 20 GB.

      --records N       records to prime (1000000): with `shapes`, of all twelve objects together; with `queries`, of each
                        soup; with `pack`, of the store (100000); with `briefcase` and `fleet`, of each user (5000); with
                        `workers`, of each user (2000)
      --large N         contacts of the large prime of `shapes` (10000000)
      --base N          records of the smaller prime, whose memory is compared (500000)
      --returns N       returns of the larger run; the smaller has a tenth (1000); with `ingest`, stores (40)
      --edits N         edits of each return (100)
      --users N         users to prime by `briefcase` (200), `fleet` (50) and `workers` (500)
      --latency N       delay of each answer for `briefcase`, `fleet` and `workers`, in milliseconds (100)
      --concurrency N   concurrent requests (4)
      --rounds N        rounds of all arms, forwards and backwards (2); the large prime of `shapes` runs once
      --directory PATH  directory for the stores and for recorded pages, which are kept (Benchmarks/out); the results
                        are kept there in bench.json
      --live            let the local org create every page, instead of serving recorded ones
      --json            one JSON document instead of a table

    The exit status is 1
    - if a prime takes 160 MiB of resident memory or more, if the larger prime takes over 10 % more than the smaller
      one, if one store is primed less than 3.5 times as fast as by C through SQLite's API or less than 10 times as
      fast as by a Python script, or synced less than 8 times as fast as by the script, if both stores take over
      1.6 times one, or if a query takes over 1.2 times its SQL;
    - for `reconcile`, if an edit is lost or reported wrongly, if it takes over 1.1 times the minimum of calls, less
      than 3 times the speed of one request at a time at 100 ms, over 10 % more memory for the larger run, or, at its
      best, more than one second of processor time for 5,000 edits;
    - for `incremental`, if a run without changes takes over 1 % of the first prime's processor time, or one after
      1 % of the records changed over 1.2 times what copying and hashing the same files takes, elapsed and by processor;
    - for `ingest`, if one store at a time takes over 1.5 times the floor, or two in parallel are less than 1.7 times
      as fast;
    - for `pack`, if packing, which reads back, takes over 1.1 times the floors of packing and verifying, sealing over
      1.1 times its floor, or verifying over 1.2 times;
    - for `briefcase`, if it takes over 1.2 times the minimum;
    - for `fleet`, if shared records take more calls than their formula allows, over 2 % more records than the distinct
      ones and the samples, more than half of the bytes, 160 MiB of memory, or over 1.3 times the minimum;
    - for `workers`, if both workers, with the orders and the collection, take over 0.6 times the time of one process,
      or over 1.05 times its calls;
    - for `shapes`, if a prime by finished pages takes 160 MiB of resident memory or more, or one by SQLite's API 64 MiB
      or more.

    """

  var task = Task.bench
  /// The arguments as written.
  var words: [String] = []
  /// Nil for the workload's default.
  private var saidRecords: Int?
  var records: Int {
    if let saidRecords { return saidRecords }
    switch task {
    case .pack: return 100_000
    case .briefcase, .fleet: return 5000
    case .workers: return 2000
    default: return 1_000_000
    }
  }
  var base = 500_000
  /// The contacts of the large prime of `shapes`.
  var large = 10_000_000
  var rounds = 2
  /// Nil for the workload's default.
  var returns: Int?
  var edits = 100
  /// Nil for the workload's default.
  private var saidUsers: Int?
  var users: Int {
    if let saidUsers { return saidUsers }
    switch task {
    case .fleet: return 50
    case .workers: return 500
    default: return 200
    }
  }
  /// The time that each answer of the org takes, in milliseconds.
  var latency = 100
  var concurrency = 4
  var directory = "Benchmarks/out"
  var isJSON = false
  var isLive = false
  /// For children: the part of a divided run.
  var part = WorkersChild.Part.whole
  /// For children: the format of the bundles.
  var format: BundleFormat?
  /// For children: the workload to prime or serve.
  var workload = Workload.Kind.contacts
  /// For children: whether SQLite's API writes, instead of finished pages.
  var isByStatements = false
  /// For children: the org's address.
  var url = ""
  /// For the org: the process whose end also ends the org.
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
      case "--users": saidUsers = try Self.number(word, &rest)
      case "--latency": latency = try Self.number(word, &rest)
      case "--format": format = BundleFormat(rawValue: try Self.value(word, &rest))
      case "--edits": edits = try Self.number(word, &rest)
      case "--concurrency": concurrency = try Self.number(word, &rest)
      case "--part":
        let text = try Self.value(word, &rest)
        guard let part = WorkersChild.Part(rawValue: text) else {
          throw Failure(description: "\(word) is not \"\(text)\"")
        }
        self.part = part
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

  /// Reports progress separately from the table.
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
