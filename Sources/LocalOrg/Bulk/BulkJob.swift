import CSV

/// A job of the Bulk API: a query whose records are written as CSV, or rows to write.
struct BulkJob: Sendable {
  enum Kind: String, Sendable {
    case query, ingest
  }

  /// The role of a job for its client.
  enum Role: String, Sendable {
    /// A job of Bulk API 2.0.
    case whole
    /// A job of Bulk API 1, which consists of its batches, and one of its batches.
    case container, batch
  }

  enum Operation: String, Sendable {
    case insert, update, upsert, delete, hardDelete, query, queryAll

    var kind: Kind { self == .query || self == .queryAll ? .query : .ingest }
  }

  /// The state of a job.
  enum State: String, Sendable {
    case open = "Open"
    case uploadComplete = "UploadComplete"
    case inProgress = "InProgress"
    case complete = "JobComplete"
    case failed = "Failed"
    case aborted = "Aborted"

    var isRunning: Bool { self == .uploadComplete || self == .inProgress }
    /// Whether the state is final.
    var isOver: Bool { self == .complete || self == .failed || self == .aborted }
  }

  var id: String
  let userID: String
  let operation: Operation
  /// The object to read or write.
  let object: String
  /// The field by which an upsert finds records.
  var externalField: String?
  /// The statement of a query.
  var soql: String?
  let dialect: BulkDialect
  var role = Role.whole
  /// The job to which a batch belongs.
  var parent: String?
  /// The format of input and output: `CSV` or `JSON`.
  var content = "CSV"
  /// The API version with which it was created, such as `66.0`.
  let version: String
  /// The creation time, in milliseconds.
  let created: Int64
  /// The time of the last state change.
  var changed: Int64
  var state: State
  /// The reason for its failure.
  var error: String?
  /// The columns of its CSV.
  var columns: [String] = []
  /// Whether rows have been uploaded.
  var isFilled = false
  /// The number of rows processed, and how many of them failed.
  var processed = 0
  var failed = 0
  /// The processing time.
  var milliseconds: Int64 = 0

  var kind: Kind { operation.kind }
}

/// The format of a job's CSV.
struct BulkDialect: Sendable, Hashable {
  /// The names of the delimiters and their characters.
  static let delimiters: [(name: String, byte: UInt8)] = [
    ("COMMA", 0x2C), ("BACKQUOTE", 0x60), ("CARET", 0x5E), ("PIPE", 0x7C), ("SEMICOLON", 0x3B),
    ("TAB", 0x09),
  ]

  /// The delimiter's name, such as `COMMA`.
  var delimiter = "COMMA"
  /// `LF` or `CRLF`.
  var lineEnding = "LF"

  var delimiterByte: UInt8 {
    Self.delimiters.first { $0.name == delimiter }?.byte ?? UInt8(ascii: ",")
  }

  /// The writer for this format; like an org, it quotes every value.
  var writer: CSVWriter {
    CSVWriter(
      lineEnding: lineEnding == "CRLF" ? .crlf : .lf, delimiter: delimiterByte, quotesAll: true)
  }

  /// The format in which a job's rows are stored.
  static let kept = BulkDialect()
}
