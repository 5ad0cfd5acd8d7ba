import Pipelines
import System

/// The pipelines that can be called by name: those in `pipelines/` and in `/etc/attache`.
enum PipelinesInReach {
  /// The message if there are none, in two lines.
  static let noneWords = [
    "no pipelines in \(PipelineFile.places.joined(separator: " and "))",
    "  attache init NAME writes one, attache demo shows one",
  ]

  /// Returns their names, in the order of the directories.
  ///
  /// A file that is hidden by another file of the same name is called by its path.
  static func names(_ program: Program) -> [String] {
    var found: [String] = []
    for directory in PipelineFile.places {
      for name in PipelineFile.names(in: program.absolute(directory)) {
        found.append(found.contains(name) ? "\(directory)/\(name).json" : name)
      }
    }
    return found
  }
}
