import JSON
import System

/// The demo's built-in pipeline.
enum DemoPipeline {
  /// The name of the pipeline and of its data directory.
  static let name = "demo"

  /// Writes the pipeline file and the files that it names into a directory, and returns the
  /// pipeline file's path.
  ///
  /// Values of environment variables are written into the files, so that printed commands work in
  /// any shell.
  static func write(
    into directory: String, _ variables: [String: String]
  ) throws(SystemError) -> String {
    try Files.makeDirectory(directory + "/demo")
    for (name, bytes) in files { try DurableFile.write(bytes, to: directory + "/" + name) }
    let key = "demo/app-key.pem"
    try DurableFile.write(
      Array((variables["ATTACHE_JWT_KEY"] ?? "").utf8), to: directory + "/" + key)
    var text = String(decoding: PackageResources.demo_json, as: UTF8.self)
    for name in ["ATTACHE_ORG_URL", "ATTACHE_CLIENT_ID"] {
      let value = JSONText.quoted(variables[name] ?? "")
      text = text.replacing(#"{ "env": "\#(name)" }"#, with: value)
    }
    text = text.replacing(
      #"{ "env": "ATTACHE_JWT_KEY" }"#, with: #"{ "file": "\#(key)" }"#)
    try DurableFile.write(Array(text.utf8), to: directory + "/demo.json")
    return directory + "/demo.json"
  }

  private static let files = [
    "demo/userstore.json": PackageResources.userstore_json,
    "demo/usersyncs.json": PackageResources.usersyncs_json,
    "demo/globalstore.json": PackageResources.globalstore_json,
    "demo/globalsyncs.json": PackageResources.globalsyncs_json,
  ]
}
