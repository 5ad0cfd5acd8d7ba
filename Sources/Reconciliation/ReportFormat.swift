import JSON
import Ledger
import System

/// Takes the bytes of a report's file, a part at a time.
package typealias ReportSink = ([UInt8]) throws(SystemError) -> Void

/// One form of a run's report.
package protocol ReportFormat {
  /// The name by which the pipeline file asks for it.
  static var name: String { get }
  /// The files that it writes.
  static var files: [String] { get }
  /// Hands a file's bytes to `sink`, in parts: a pure function of the model.
  ///
  /// - Throws: what `sink` throws, and errors of the ledger that the model reads from.
  static func write(
    _ file: String, _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws
}

extension ReportFormat {
  /// Writes the files into a directory, each under a temporary name first.
  package static func write(
    _ model: ReportModel, to directory: String, _ options: ReportMask
  ) throws {
    for file in files {
      try DurableFile.write(to: directory + "/" + file) { sink in
        try write(file, model, options, to: sink)
      }
    }
  }

  /// A file as a whole.
  package static func bytes(
    _ file: String, _ model: ReportModel, _ options: ReportMask
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try write(file, model, options) { bytes += $0 }
    return bytes
  }

  /// Hands over what has been gathered, once it is worth a call.
  static func pass(_ bytes: inout [UInt8], to sink: ReportSink) throws(SystemError) {
    if bytes.count < 1 << 18 { return }
    try sink(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// The forms that there are.
package enum ReportFormats {
  /// Every form, one line each.
  package static var all: [any ReportFormat.Type] {
    [
      JSONReport.self,
      CSVReport.self,
      HTMLReport.self,
    ]
  }

  /// Writes a report in some forms into a directory, with the files of its long values.
  package static func write(
    _ formats: [any ReportFormat.Type], _ model: ReportModel, to directory: String,
    _ options: ReportMask
  ) throws {
    var options = options
    options.namesFiles = true
    try ReportValues.write(model, to: directory, options)
    for format in formats { try format.write(model, to: directory, options) }
  }

  /// The forms of these names, in their own order.
  package static func named(_ names: [String]) -> [any ReportFormat.Type] {
    all.filter { names.contains($0.name) }
  }
}
