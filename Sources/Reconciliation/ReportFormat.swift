import JSON
import Ledger
import System

/// One form of a run's report.
package protocol ReportFormat {
  /// The name by which the pipeline file asks for it.
  static var name: String { get }
  /// The files that it writes, with their bytes: a pure function of the model.
  static func files(_ model: ReportModel, _ options: ReportMask) -> [(
    name: String, bytes: [UInt8]
  )]
}

extension ReportFormat {
  /// Writes the files into a directory, each under a temporary name first.
  package static func write(
    _ model: ReportModel, to directory: String, _ options: ReportMask
  ) throws(SystemError) {
    for file in files(model, options) {
      try DurableFile.write(file.bytes, to: directory + "/" + file.name)
    }
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

  /// The forms of these names, in their own order.
  package static func named(_ names: [String]) -> [any ReportFormat.Type] {
    all.filter { names.contains($0.name) }
  }
}
