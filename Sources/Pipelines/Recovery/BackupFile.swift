import JSON
import System

/// The layout of a backup, a tar.zst archive that `tar` can read as well.
///
/// `backup.json` comes first and identifies the pipeline; `end.json` comes last, so that a
/// truncated archive is detected. Between them are the files of the data directory under `data/`,
/// those of the inbox, wherever it is, under `inbox/`, and the pipeline file with its store and
/// sync configurations under `configuration/`. A name that some file systems do not support is
/// replaced by `odd/NUMBER`, and `end.json` has the original.
enum BackupFile {
  /// The suffix of a backup's file name.
  static let ending = ".backup.tar.zst"
  static let headName = "backup.json"
  static let endName = "end.json"
  static let data = "data/"
  static let inbox = "inbox/"
  static let configuration = "configuration/"
  static let odd = "odd/"
  private static let format: Int64 = 1

  /// The first entry: the identity of a backup.
  struct Head: Sendable, Hashable {
    var pipeline: String
    /// The time of the backup, in ms of the wall clock.
    var time: Int64
    /// The last run in the ledger; empty for none.
    var run: String

    var bytes: [UInt8] {
      let json: JSONValue = [
        "format": JSONValue(format), "pipeline": .string(pipeline),
        "time": .string(Dates.utc(time)),
        "run": .string(run),
      ]
      return json.fileBytes
    }

    init(pipeline: String, time: Int64, run: String) {
      (self.pipeline, self.time, self.run) = (pipeline, time, run)
    }

    /// Parses the entry; nil if it is invalid.
    init?(_ bytes: [UInt8]) {
      guard let json = try? JSONValue(parsing: bytes), json["format"]?.int == format,
        let pipeline = json["pipeline"]?.string, let run = json["run"]?.string,
        let time = json["time"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) })
      else { return nil }
      self.init(pipeline: pipeline, time: time, run: run)
    }
  }

  /// The last entry, which shows that a backup is complete.
  struct End: Sendable, Hashable {
    /// The number of files in it, without the first and last entries.
    var files: Int
    /// The original names of replaced names.
    var names: [String: String] = [:]

    var bytes: [UInt8] {
      var table: JSONObject = [:]
      for (name, path) in names.sorted(by: { $0.key < $1.key }) { table[name] = .string(path) }
      let json: JSONValue = ["files": JSONValue(files), "names": .object(table)]
      return json.fileBytes
    }

    init(files: Int) { self.files = files }

    init?(_ bytes: [UInt8]) {
      guard let json = try? JSONValue(parsing: bytes), let files = json["files"]?.int else {
        return nil
      }
      self.files = Int(files)
      for (name, path) in json["names"]?.object ?? [:] { names[name] = path.string }
    }
  }

  /// Whether a path stays below the directory that it is joined to.
  static func isBelow(_ path: String) -> Bool {
    !path.utf8.contains(0)
      && path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && $0 != "." && $0 != ".."
      }
  }
}
