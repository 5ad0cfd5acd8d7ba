import Crypto
import JSON
import Ledger
import System

/// Long values, each in its own file in the report's directory.
///
/// A file is named by the digest of its content, so equal values share one, and no record data is
/// part of a path. The files are deleted when the report's directory is pruned.
package enum ReportValues {
  package static let directory = "values"
  /// The size above which a value is in a file, in bytes.
  package static let limitBytes = 4096

  /// A value's file, relative to the report's directory; nil if the value is in the report itself.
  package static func file(of value: JSONValue) -> String? {
    let text = ReportMask.Shown.value(value).cell
    if text.utf8.count <= limitBytes { return nil }
    return directory + "/" + Digest.sha256Hex(Array(text.utf8)) + ".txt"
  }

  /// Whether a text has the form of such a file name.
  static func isFile(_ text: String) -> Bool {
    text.utf8.count == directory.utf8.count + 69 && text.hasPrefix(directory + "/")
      && text.hasSuffix(".txt")
      && text.utf8.dropFirst(directory.utf8.count + 1).prefix(64).allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
      }
  }

  /// Writes the files of the values that a report in a directory refers to; values that are not
  /// shown have none.
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
