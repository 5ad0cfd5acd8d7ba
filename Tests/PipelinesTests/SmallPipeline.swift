import System
import TestSupport

/// A pipeline with one user store, whose soups have the same indexes.
struct SmallPipeline {
  var name: String
  var soups: [String]
  var syncs: [String]
  var user = "ada@example.com"
  var integrationUser: String?
  /// Further members of the pipeline file.
  var more: String

  static func down(_ name: String, _ soup: String, _ target: String) -> String {
    """
    {"syncName":"\(name)","syncType":"syncDown","soupName":"\(soup)","target":\(target),
     "options":{"mergeMode":"OVERWRITE"}}
    """
  }

  /// Writes its files, which stay until the tests end.
  ///
  /// The pipeline file has its name.
  func write() throws -> TemporaryDirectory {
    let directory = TemporaryDirectory.untilExit(name)
    let indexes = #"""
      {"path":"Id","type":"string"},{"path":"AccountId","type":"string"},
      {"path":"__local__","type":"string"},{"path":"__sync_id__","type":"integer"}
      """#
    let soups = soups.map { #"{"soupName":"\#($0)","indexes":[\#(indexes)]}"# }
    let prover = integrationUser.map { #","integrationUser":"\#($0)""# } ?? ""
    let files = [
      name + ".json": """
      {"format":1,"name":"\(name)",
       "org":{"url":{"env":"ATTACHE_ORG_URL"},"concurrency":1,"login":{"method":"jwt",
         "clientId":{"env":"ATTACHE_CLIENT_ID"},"key":{"env":"ATTACHE_JWT_KEY"}\(prover)}},
       "users":{"list":["\(user)"]},"inbox":{"settleSeconds":0},
       "stores":[{"schema":"userstore.json","syncs":"usersyncs.json"}],\(more)}
      """, "userstore.json": #"{"soups":[\#(soups.joined(separator: ","))]}"#,
      "usersyncs.json": #"{"syncs":[\#(syncs.joined(separator: ","))]}"#,
    ]
    for (name, text) in files { try DurableFile.write(Array(text.utf8), to: directory.file(name)) }
    return directory
  }
}
