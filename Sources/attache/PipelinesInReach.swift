import Pipelines
import System

/// The pipelines that a name calls: those of `pipelines/` and of `/etc/attache`.
enum PipelinesInReach {
  /// The words that call them, in the order of their directories; a file that another one of the same name hides is
  /// called by its path.
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
