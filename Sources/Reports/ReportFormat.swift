import JSON
import Ledger
import System

/// Receives the bytes of a report's file, in parts.
package typealias ReportSink = ([UInt8]) throws(SystemError) -> Void

/// One format of a run's report.
package protocol ReportFormat {
  /// The format's name in the pipeline file.
  static var name: String { get }
  static var files: [String] { get }
  /// Writes a file's bytes to `sink`, in parts, from the model alone.
  ///
  /// - Throws: errors from `sink` and from the ledger that the model reads.
  static func write(
    _ file: String, _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws
}

extension ReportFormat {
  /// Writes the files to a directory, each under a temporary name first.
  package static func write(
    _ model: ReportModel, to directory: String, _ options: ReportMask
  ) throws {
    for file in files {
      try DurableFile.write(to: directory + "/" + file) { sink in
        try write(file, model, options, to: sink)
      }
    }
  }

  package static func bytes(
    _ file: String, _ model: ReportModel, _ options: ReportMask
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try write(file, model, options) { bytes += $0 }
    return bytes
  }

  /// Passes the buffered bytes on when there are enough of them.
  static func pass(_ bytes: inout [UInt8], to sink: ReportSink) throws(SystemError) {
    if bytes.count < 1 << 18 { return }
    try sink(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// The available formats.
package enum ReportFormats {
  /// All formats, one per line.
  package static var all: [any ReportFormat.Type] {
    [
      JSONReport.self,
      CSVReport.self,
      HTMLReport.self,
    ]
  }

  /// Writes a report in some formats to a directory, with the files of its long values.
  package static func write(
    _ formats: [any ReportFormat.Type], _ model: ReportModel, to directory: String,
    _ options: ReportMask
  ) throws {
    var options = options
    options.namesFiles = true
    try ReportValues.write(model, to: directory, options)
    for format in formats { try format.write(model, to: directory, options) }
  }

  /// The formats with these names, in the order of `all`.
  package static func named(_ names: [String]) -> [any ReportFormat.Type] {
    all.filter { names.contains($0.name) }
  }
}
