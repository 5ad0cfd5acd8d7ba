import JSON

/// The text form in which the ledger stores a base.
enum MergeBaseText {
  static func text(_ base: MergeBase) -> String {
    var object = JSONObject()
    object["date"] = base.modificationDate.map { JSONValue.string($0) } ?? .null
    if let lastModified = base.lastModified { object["lastModified"] = JSONValue(lastModified) }
    object["complete"] = JSONValue(base.isComplete)
    object["fields"] = .object(base.fields)
    return JSONValue.object(object).text
  }

  static func base(_ text: String) -> MergeBase? {
    // An unreadable base is treated as missing: the comparison is less precise, but nothing is
    // lost.
    guard let value = try? JSONValue(parsing: text), let fields = value["fields"]?.object else {
      return nil
    }
    return MergeBase(
      modificationDate: value["date"]?.string, lastModified: value["lastModified"]?.int,
      fields: fields, isComplete: value["complete"]?.bool ?? false)
  }
}
