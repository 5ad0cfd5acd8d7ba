import JSON

/// The results of `PrimeBench`.
struct PrimeReport: BenchReport {
  /// The runs for one number of records.
  struct Arms {
    var downloads: [Measurement] = []
    var primes: [Measurement] = []
    var copies: [Measurement] = []
    /// Primes of one store.
    var singles: [Measurement] = []
    /// Primes of stores with a full-text index.
    var withWords: [Measurement] = []
    /// Syncs into a new store.
    var syncs: [Measurement] = []
    /// One store by the C program with SQLite's API, and by the Python script.
    var inC: [Measurement] = []
    var inPython: [Measurement] = []

    var download: Measurement { .median(downloads) }
    var prime: Measurement { .median(primes) }
    var copy: Measurement { .median(copies) }
    var single: Measurement { .median(singles) }
    var words: Measurement { .median(withWords) }
    var sync: Measurement { .median(syncs) }
    var c: Measurement { .median(inC) }
    var python: Measurement { .median(inPython) }
    /// All runs.
    var all: [Measurement] {
      downloads + copies + primes + singles + withWords + syncs + inC + inPython
    }

    mutating func add(_ run: Measurement, of arm: BenchOptions.Task) {
      switch arm {
      case .prime: primes.append(run)
      case .sqlite: copies.append(run)
      case .single: singles.append(run)
      case .fullText: withWords.append(run)
      case .sync: syncs.append(run)
      case .c: inC.append(run)
      case .python: inPython.append(run)
      default: downloads.append(run)
      }
    }
  }

  let base: Arms
  let full: Arms
  let limitKiB: Int
  let growthPercent: Int

  /// The limits that are exceeded.
  var failures: [String] {
    var found: [String] = []
    for run in base.primes + full.primes + base.withWords + full.withWords
    where run.peakKiB >= limitKiB {
      found.append(
        "a prime of \(run.records) records took \(Self.mebibytes(run.peakKiB)) MiB of resident "
          + "memory; the limit is \(limitKiB >> 10) MiB")
    }
    if full.prime.peakKiB * 100 > base.prime.peakKiB * (100 + growthPercent) {
      found.append(
        "\(full.prime.records) records took \(growth) % more memory than \(base.prime.records); "
          + "the limit is \(growthPercent) %")
    }
    found += slow(
      full.c, full.single, by: Self.timesFasterThanC,
      "primes one store than C through SQLite's API")
    found += slow(
      full.python, full.single, by: Self.timesFasterThanPython,
      "primes one store than the Python script")
    found += slow(
      full.python, full.sync, by: Self.timesSyncFasterThanPython,
      "syncs into a new store than the Python script")
    if full.prime.wall * 10 > full.single.wall * Self.bothToOneTenths {
      found.append(
        "both stores took \(Self.ratio(full.prime, full.single, \.wall)) times one; "
          + "the limit is \(Self.decimal(Self.bothToOneTenths, 1))")
    }
    return found
  }

  /// The minimum speedups for one store, in tenths, and the limit of both stores as a multiple of
  /// one.
  private static let timesFasterThanC = 35
  private static let timesFasterThanPython = 100
  private static let timesSyncFasterThanPython = 80
  private static let bothToOneTenths = 16

  private func slow(
    _ floor: Measurement, _ run: Measurement, by tenths: Int, _ what: String
  ) -> [String] {
    guard run.wall * tenths > floor.wall * 10 else { return [] }
    return [
      "\(Self.ratio(floor, run, \.wall)) times as fast \(what); "
        + "the minimum is \(Self.decimal(tenths, 1)) times"
    ]
  }

  /// The additional memory of the larger prime, in percent with one decimal.
  private var growth: String {
    guard base.prime.peakKiB > 0 else { return "-" }
    return Self.decimal((full.prime.peakKiB - base.prime.peakKiB) * 1000 / base.prime.peakKiB, 1)
  }

  // MARK: text

  /// A table and a few sentences.
  var text: String {
    var lines = [
      "Priming one object into the stores of both platforms, ten indexes each; medians, except for memory, "
        + "which is the highest peak.", "",
      Self.row([
        "arm", "records", "runs", "wall s", "records/s", "user s", "system s", "VmHWM MiB",
      ]),
    ]
    for arms in [base, full] {
      lines.append(Self.row(arms.download, runs: arms.downloads.count))
      lines.append(Self.row(arms.copy, runs: arms.copies.count))
      lines.append(Self.row(arms.prime, runs: arms.primes.count))
      lines.append(Self.row(arms.single, runs: arms.singles.count))
      lines.append(Self.row(arms.words, runs: arms.withWords.count))
      lines.append(Self.row(arms.sync, runs: arms.syncs.count))
      lines.append(Self.row(arms.c, runs: arms.inC.count))
      lines.append(Self.row(arms.python, runs: arms.inPython.count))
    }
    lines.append("")
    for arms in [base, full] { lines.append(Self.comparison(arms)) }
    lines += [
      "memory: \(full.prime.records) records take \(growth) % more than \(base.prime.records)", "",
      "Loading is not synchronised to disk; each finished store is (fsync), within the times of "
        + "both arms that write.",
    ]
    lines += failures.map { "FAILED: " + $0 }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(_ run: Measurement, runs: Int) -> String {
    row([
      run.arm, "\(run.records)", "\(runs)", seconds(run.wall), "\(rate(run))", seconds(run.user),
      seconds(run.system), mebibytes(run.peakKiB),
    ])
  }

  private static func row(_ cells: [String]) -> String {
    let widths = [10, 9, 5, 8, 10, 8, 9, 10]
    return zip(cells, widths).enumerated().map { place, cell in
      let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return place == 0 ? cell.0 + space : space + cell.0
    }.joined(separator: " ")
  }

  private static func comparison(_ arms: Arms) -> String {
    let prime = arms.prime
    return """
      \(prime.records) records: \(rate(prime)) records/s primed, \(rate(arms.download)) downloaded
        a prime takes \(ratio(prime, arms.download, \.wall)) times the download, and \
      \(ratio(prime, arms.copy, \.wall)) times SQLite alone (processor time: \
      \(ratio(prime, arms.copy, \.processor)))
        of its time: pages \(seconds(prime.pages)) s, indexes \(seconds(prime.indexes)) s, \
      files \(seconds(prime.publishing)) s
        into one store: \(rate(arms.single)) records/s primed, \(rate(arms.sync)) synced into a new \
      store, \(ratio(arms.python, arms.sync, \.wall)) times as fast as the Python script
        one store is \(ratio(arms.c, arms.single, \.wall)) times as fast as C through SQLite's API \
      (processor time: \(ratio(arms.c, arms.single, \.processor))), and \
      \(ratio(arms.python, arms.single, \.wall)) times as fast as the Python script (processor time: \
      \(ratio(arms.python, arms.single, \.processor)))
        both stores take \(ratio(arms.prime, arms.single, \.wall)) times one (processor time: \
      \(ratio(arms.prime, arms.single, \.processor)))
      """
  }

  // MARK: numbers

  private static func rate(_ run: Measurement) -> Int {
    run.wall > 0 ? run.records * 1000 / run.wall : 0
  }

  private static func ratio(
    _ run: Measurement, _ floor: Measurement, _ what: KeyPath<Measurement, Int>
  ) -> String {
    decimal(floor[keyPath: what] > 0 ? run[keyPath: what] * 100 / floor[keyPath: what] : 0, 2)
  }

  private static func seconds(_ milliseconds: Int) -> String { decimal(milliseconds / 10, 2) }
  private static func mebibytes(_ kibibytes: Int) -> String { decimal(kibibytes * 10 / 1024, 1) }

  /// A whole number of units with `places` decimals.
  private static func decimal(_ value: Int, _ places: Int) -> String {
    var unit = 1
    for _ in 0..<places { unit *= 10 }
    let fraction = String(abs(value) % unit)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return "\(value < 0 ? "-" : "")\(abs(value) / unit).\(zeros)\(fraction)"
  }

  // MARK: JSON

  /// Every run, and the results.
  var json: JSONValue {
    let runs = (base.all + full.all).map(\.json)
    return [
      "runs": .array(runs),
      "primeToDownload": .number(Self.ratio(full.prime, full.download, \.wall)),
      "primeToSQLite": .number(Self.ratio(full.prime, full.copy, \.wall)),
      "primeToSQLiteProcessor": .number(Self.ratio(full.prime, full.copy, \.processor)),
      "cToOneStore": .number(Self.ratio(full.c, full.single, \.wall)),
      "pythonToOneStore": .number(Self.ratio(full.python, full.single, \.wall)),
      "pythonToSync": .number(Self.ratio(full.python, full.sync, \.wall)),
      "bothToOneStore": .number(Self.ratio(full.prime, full.single, \.wall)),
      "peakKiB": .number("\(full.prime.peakKiB)"),
      "limitKiB": .number("\(limitKiB)"),
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
