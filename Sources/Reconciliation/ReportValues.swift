import Crypto
import JSON
import Ledger
import System

/// Values that a report has no room for: each is in a file of its own in the report's directory.
///
/// A file is named by the digest of its content, so equal values share one, and nothing of a record is part of a path.
/// It goes with the report's directory when that is pruned.
package enum ReportValues {
  /// The directory within that of the report.
  package static let directory = "values"
  /// A value of more bytes than this has a file of its own.
  package static let limitBytes = 4096

  /// The file of a value, relative to the report's directory; nil for one that has room in the report.
  package static func file(of value: JSONValue) -> String? {
    let text = ReportMask.Shown.value(value).cell
    if text.utf8.count <= limitBytes { return nil }
    return directory + "/" + Digest.sha256Hex(Array(text.utf8)) + ".txt"
  }

  /// Whether a text has the form of such a file's name.
  static func isFile(_ text: String) -> Bool {
    text.utf8.count == directory.utf8.count + 69 && text.hasPrefix(directory + "/")
      && text.hasSuffix(".txt")
      && text.utf8.dropFirst(directory.utf8.count + 1).prefix(64).allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
      }
  }

  /// Writes the files of the values that a report in a directory names; what is not shown has none.
  static func write(
    _ model: ReportModel, to place: String, _ options: ReportMask
  ) throws {
    func keep(_ value: JSONValue?, of field: String) throws {
      guard case .value(let value) = options.shown(value, of: field), let file = file(of: value)
      else { return }
      let path = place + "/" + file
      if Files.exists(path) { return }
      try Files.makeDirectory(place + "/" + directory)
      try DurableFile.write(Array(ReportMask.Shown.value(value).cell.utf8), to: path)
    }
    for edits in [model.edits, model.stillOpen] {
      try edits.forEach(withSent: true) { edit in
        for field in edit.detail.fields + edit.detail.outside + edit.detail.kept {
          for value in [field.base, field.device, field.entered, field.server] {
            try keep(value, of: field.name)
          }
        }
        for (name, value) in edit.sent ?? [:] { try keep(value, of: name) }
      }
    }
  }
}
