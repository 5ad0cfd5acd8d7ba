import SQLite
import SmartStore
import System

/// The second floor: the rows of finished stores, copied into tables of the same kind by SQLite
/// alone.
///
/// One statement copies all rows, so none of attache's work is included: no download, no JSON, no
/// bindings. The settings, and which indexes are built when, are those of a cold prime.
struct SQLiteChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() throws -> Measurement {
    let sources = options.directory + "/stores"
    let copies = options.directory + "/copies"
    if Files.exists(copies) { try Files.remove(copies) }
    try Files.makeDirectory(copies, intermediate: true)
    defer { try? Files.remove(copies) }
    var result = Measurement()
    result.arm = "SQLite"
    result.records = options.records
    let failures = Locked<[String]>([])
    let start = Clock.monotonicNanoseconds()
    // As in a prime, both platforms' stores are written in parallel.
    Parallel.perform(Platform.allCases.count) { index in
      let name = "/\(Platform.allCases[index].rawValue).db"
      do {
        try Self.copy(sources + name, to: copies + name)
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    result.end(start)
    if let failure = failures.withLock({ $0.first }) { throw BenchFailure(failure) }
    return result
  }

  /// The table of the first soup of a store.
  private static let table = "TABLE_1"
  /// The indexes that are built after the rows are written: those of `Id`, `FirstName`, `LastName`.
  private static let late: Set<String> = ["TABLE_1_0_idx", "TABLE_1_1_idx", "TABLE_1_2_idx"]

  private static func copy(_ source: String, to path: String) throws {
    let target = try Connection(path, mode: .create)
    try target.reserveBytes(80)
    try target.execute(
      """
      PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      PRAGMA cache_size = -4096; PRAGMA temp_store = FILE; PRAGMA secure_delete = ON
      """)
    try target.run("ATTACH \(source) AS source")
    let objects = try target.all(
      """
      SELECT name, sql FROM source.sqlite_schema WHERE tbl_name = \(table) AND sql IS NOT NULL
      ORDER BY type = 'index'
      """
    ).map { (name: $0[0].text ?? "", sql: $0[1].text ?? "") }
    for object in objects where !late.contains(object.name) { try target.execute(object.sql) }
    let columns = ObjectShape.contact.indexes.indices.map { "\(table)_\($0)" }
    let names = (["id", "soup", "created", "lastModified"] + columns).joined(separator: ", ")
    try target.execute(
      "INSERT INTO main.\(table) (\(names)) SELECT \(names) FROM source.\(table)")
    for object in objects where late.contains(object.name) { try target.execute(object.sql) }
    target.close()
    try DurableFile.synchronize(file: path)
  }
}
