import System

/// The demo's pipeline, which the program has in it.
enum DemoPipeline {
  /// Writes the pipeline file and those that it names into a directory; answers the pipeline file's path.
  static func write(into directory: String) throws(SystemError) -> String {
    try Files.makeDirectory(directory + "/demo")
    for (name, bytes) in files { try DurableFile.write(bytes, to: directory + "/" + name) }
    return directory + "/demo.json"
  }

  private static let files = [
    "demo.json": PackageResources.demo_json,
    "demo/userstore.json": PackageResources.userstore_json,
    "demo/usersyncs.json": PackageResources.usersyncs_json,
    "demo/globalstore.json": PackageResources.globalstore_json,
    "demo/globalsyncs.json": PackageResources.globalsyncs_json,
  ]
}
