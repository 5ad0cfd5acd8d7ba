struct ConformanceCase {
  /// Its number in the list of Mobile Sync; SmartStore's cases are identified by name.
  let row: Int?
  let suite: String
  /// Its name; if the SDKs' names differ, that of Android.
  let name: String
  var otherName: String?
  let platforms: String
  /// The reason it is not ported; empty if it is.
  let reason: String

  /// The cases in `sdk-smartstore-cases.tsv`: class, case, platform, reason.
  static func smartStore() throws -> [ConformanceCase] {
    try cells(of: "sdk-smartstore-cases.tsv").map { cells in
      ConformanceCase(
        row: nil, suite: cells[0], name: cells[1],
        platforms: cells[2] == "both" ? "iOS, Android" : cells[2],
        reason: cells.count > 3 ? cells[3] : "")
    }
  }

  /// The cases in `sdk-mobilesync-cases.tsv`: number, class, case, platform, whether the SDK's own
  /// test uses an org, reason.
  static func mobileSync() throws -> [ConformanceCase] {
    try cells(of: "sdk-mobilesync-cases.tsv").map { cells in
      let names = cells[2].split(separator: "/").map(String.init)
      return ConformanceCase(
        row: Int(cells[0]), suite: cells[1], name: names[0], otherName: names.dropFirst().first,
        platforms: cells[3], reason: cells.count > 5 ? cells[5] : "")
    }
  }

  private static func cells(of fixture: String) throws -> [[String]] {
    let text = try String(
      contentsOf: Page.root.appending(path: "Tests/Fixtures/" + fixture), encoding: .utf8)
    return text.split(separator: "\n").map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }
}
