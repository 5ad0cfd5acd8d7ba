import CSV

/// A job of the Bulk API: a query whose records become CSV, or rows that are to be written.
struct BulkJob: Sendable {
  /// What kind of work a job is.
  enum Kind: String, Sendable {
    case query, ingest
  }

  /// What a job is to its client.
  enum Role: String, Sendable {
    /// A job of Bulk API 2.0.
    case whole
    /// A job of Bulk API 1, which is nothing but its batches; and one of these.
    case container, batch
  }

  /// What is done.
  enum Operation: String, Sendable {
    case insert, update, upsert, delete, hardDelete, query, queryAll

    var kind: Kind { self == .query || self == .queryAll ? .query : .ingest }
  }

  /// How far a job has come.
  enum State: String, Sendable {
    case open = "Open"
    case uploadComplete = "UploadComplete"
    case inProgress = "InProgress"
    case complete = "JobComplete"
    case failed = "Failed"
    case aborted = "Aborted"

    /// Whether there is work left.
    var isRunning: Bool { self == .uploadComplete || self == .inProgress }
    /// Whether nothing will change any more.
    var isOver: Bool { self == .complete || self == .failed || self == .aborted }
  }

  var id: String
  let userID: String
  let operation: Operation
  /// The object that is read or written.
  let object: String
  /// The field by which an upsert finds its records.
  var externalField: String?
  /// The statement of a query.
  var soql: String?
  let dialect: BulkDialect
  var role = Role.whole
  /// The job to which a batch belongs.
  var parent: String?
  /// `CSV` or `JSON`: what comes in and goes out.
  var content = "CSV"
  /// The version of the API in which it was made, `66.0`.
  let version: String
  /// When it was made, in milliseconds.
  let created: Int64
  /// When its state changed last.
  var changed: Int64
  var state: State
  /// Why it failed.
  var error: String?
  /// The columns of its CSV.
  var columns: [String] = []
  /// Whether rows have arrived.
  var isFilled = false
  /// How many rows were worked on, and how many of them were refused.
  var processed = 0
  var failed = 0
  /// How long the work took.
  var milliseconds: Int64 = 0

  var kind: Kind { operation.kind }
}

/// How a job's CSV is written.
struct BulkDialect: Sendable, Hashable {
  /// The names of the delimiters and what they stand for.
  static let delimiters: [(name: String, byte: UInt8)] = [
    ("COMMA", 0x2C), ("BACKQUOTE", 0x60), ("CARET", 0x5E), ("PIPE", 0x7C), ("SEMICOLON", 0x3B),
    ("TAB", 0x09),
  ]

  /// `COMMA` and the like.
  var delimiter = "COMMA"
  /// `LF` or `CRLF`.
  var lineEnding = "LF"

  var delimiterByte: UInt8 {
    Self.delimiters.first { $0.name == delimiter }?.byte ?? UInt8(ascii: ",")
  }

  /// What writes in this dialect: everything in quotes, as an org does.
  var writer: CSVWriter {
    CSVWriter(
      lineEnding: lineEnding == "CRLF" ? .crlf : .lf, delimiter: delimiterByte, quotesAll: true)
  }

  /// The dialect in which a job's rows are kept.
  static let kept = BulkDialect()
}
