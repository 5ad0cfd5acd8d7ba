import JSON
import System

/// What a backup is made of: a tar.zst that `tar` can read as well.
///
/// `backup.json` comes first and says whose it is; `end.json` comes last, so that one that was cut short is
/// seen to be. Between them the files of the data directory lie under `data/`, those of the inbox under
/// `inbox/`, wherever it is, and the pipeline file with its store and sync configurations under
/// `configuration/`. A name that not every file system takes is `odd/NUMBER`, and `end.json` says what it
/// stands for.
enum BackupFile {
  /// How such a file's name ends.
  static let ending = ".backup.tar.zst"
  static let headName = "backup.json"
  static let endName = "end.json"
  static let data = "data/"
  static let inbox = "inbox/"
  static let configuration = "configuration/"
  static let odd = "odd/"
  private static let format: Int64 = 1

  /// Whose a backup is.
  struct Head: Sendable, Hashable {
    /// The pipeline's name.
    var pipeline: String
    /// When it was made, in ms of the wall clock.
    var time: Int64
    /// The last run that the ledger knows; empty for none.
    var run: String

    var bytes: [UInt8] {
      let json: JSONValue = [
        "format": JSONValue(format), "pipeline": .string(pipeline),
        "time": .string(Dates.utc(time)),
        "run": .string(run),
      ]
      return json.bytes(pretty: true, sortedKeys: false) + [0x0A]
    }

    init(pipeline: String, time: Int64, run: String) {
      (self.pipeline, self.time, self.run) = (pipeline, time, run)
    }

    /// Reads it; nil for what is none.
    init?(_ bytes: [UInt8]) {
      guard let json = try? JSONValue(parsing: bytes), json["format"]?.int == format,
        let pipeline = json["pipeline"]?.string, let run = json["run"]?.string,
        let time = json["time"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) })
      else { return nil }
      self.init(pipeline: pipeline, time: time, run: run)
    }
  }

  /// That a backup is whole.
  struct End: Sendable, Hashable {
    /// How many files are in it, without the first and the last.
    var files: Int
    /// What odd names stand for.
    var names: [String: String] = [:]

    var bytes: [UInt8] {
      var table: JSONObject = [:]
      for (name, path) in names.sorted(by: { $0.key < $1.key }) { table[name] = .string(path) }
      let json: JSONValue = ["files": JSONValue(files), "names": .object(table)]
      return json.bytes(pretty: true, sortedKeys: false) + [0x0A]
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

  /// Says whether a path stays below where it is put.
  static func isBelow(_ path: String) -> Bool {
    !path.utf8.contains(0)
      && path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && $0 != "." && $0 != ".."
      }
  }
}
