import JSON
import Salesforce

/// The org of a pipeline, and the limits for its use.
package struct OrgSettings: Sendable, Hashable {
  /// The My Domain URL, or the login host.
  package var url: TextSource
  /// The org's ID; nil until the first run has learned it.
  package var id: String?
  /// The API version; nil for the newest that the org supports.
  package var apiVersion: String?
  package var login: LoginSettings
  /// The file with the certificates of a private authority; nil for the system's authorities.
  package var caFile: String?
  package var apiBudget = BudgetSettings()
  /// The maximum number of concurrent requests.
  ///
  /// An org allows 25 long-running ones for all of its users together.
  package var concurrency = Org.defaultConcurrency
  /// The time limit of one request, in seconds.
  package var requestTimeoutSeconds = Org.defaultTimeoutSeconds
  /// The time limit of a run, in seconds.
  package var runDeadlineSeconds = 14400

  static let keys = [
    "url", "id", "apiVersion", "login", "caFile", "apiBudget", "concurrency",
    "requestTimeoutSeconds", "runDeadlineSeconds",
  ]

  init?(_ object: ConfigurationObject, in directory: String) {
    let reader = object.reader
    let url = object.required("url", "\"https://….my.salesforce.com\"").flatMap {
      reader.text($0, in: directory)
    }
    if case .plain(let text) = url, let node = object["url"] { Self.check(text, node, reader) }
    let login = object.required("login", "{\"method\": \"jwt\", … }").flatMap {
      LoginSettings($0, in: directory, reader)
    }
    self.init(url: url ?? .plain(""), login: login ?? LoginSettings(method: .jwt))
    id = object.text("id")
    if let id, let node = object["id"], ![15, 18].contains(id.count) || !id.hasPrefix("00D") {
      reader.report(
        node, "\(JSONText.quoted(id)) is not the ID of an org",
        "write its 18 characters, which start with 00D, or remove it: the first run learns it")
    }
    apiVersion = object.text("apiVersion")
    if let apiVersion, let node = object["apiVersion"] {
      Self.check(version: apiVersion, node, reader)
    }
    caFile = object.text("caFile").map { ConfigurationReader.join(directory, $0) }
    let section = "the section apiBudget"
    if let budget = object.object("apiBudget", known: BudgetSettings.keys, what: section) {
      apiBudget = BudgetSettings(budget)
    }
    concurrency = object.int("concurrency", default: concurrency, in: 1...25)
    requestTimeoutSeconds = object.int(
      "requestTimeoutSeconds", default: requestTimeoutSeconds, in: 1...3600)
    runDeadlineSeconds = object.int(
      "runDeadlineSeconds", default: runDeadlineSeconds, in: 1...Int.max)
    guard url != nil, login != nil else { return nil }
  }

  private init(url: TextSource, login: LoginSettings) {
    self.url = url
    self.login = login
  }

  private static func check(_ url: String, _ node: JSONNode, _ reader: ConfigurationReader) {
    if let fault = OrgAddress.fault(of: url) { reader.report(node, fault.what, fault.fix) }
  }

  private static func check(version: String, _ node: JSONNode, _ reader: ConfigurationReader) {
    let parts = version.split(separator: ".", omittingEmptySubsequences: false)
    guard let major = Int(parts.first?.drop { $0 == "v" } ?? "") else {
      reader.report(
        node, "\(JSONText.quoted(version)) is not an API version",
        "write \"\(APIVersion.newestKnown)\"")
      return
    }
    if version != "\(major).0" {
      reader.report(
        node, "\(JSONText.quoted(version)) is not an API version", "write \"\(major).0\"")
    }
  }

  var json: JSONValue {
    JSONObject.of([
      ("url", url.json), ("id", id.map(JSONValue.string)),
      ("apiVersion", apiVersion.map(JSONValue.string)),
      ("login", login.json), ("caFile", caFile.map(JSONValue.string)),
      ("apiBudget", apiBudget.json), ("concurrency", JSONValue(concurrency)),
      ("requestTimeoutSeconds", JSONValue(requestTimeoutSeconds)),
      ("runDeadlineSeconds", JSONValue(runDeadlineSeconds)),
    ])
  }
}
