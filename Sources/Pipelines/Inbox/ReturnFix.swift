import System

/// The fix of a refused return, with commands that can be run as they are printed.
package enum ReturnFix {
  /// Returns a fix with the names of its pipeline and its file.
  ///
  /// `pipeline` is the word that names the pipeline in a command, and `path` the file's location;
  /// nil if it is unknown.
  package static func text(
    _ fix: String, pipeline: String, name: String, path: String?
  ) -> String {
    var (fix, file) = (fix, "")
    if let path, fix.hasSuffix(" FILE") {
      fix = String(fix.dropLast(4))
      file = ShellWord.quoted(path)
    }
    let named = fix.replacing(
      "PIPELINE NAME", with: "\(pipeline) \(ShellWord.quoted(name))")
    return named.replacing("PIPELINE", with: pipeline) + file
  }
}
