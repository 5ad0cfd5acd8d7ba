import JSON
import Ledger
import Reports
import Snapshots

extension CarriedEdit {
  var json: JSONValue {
    var object: JSONObject = [
      "edit": JSONValue(edit), "source": .string(source), "platform": .string(platform),
      "store": .string(soup.store.text), "soup": .string(soup.soup),
      "idField": .string(idField), "lastModified": JSONValue(lastModified),
      "edited": JSONValue(edited), "element": .object(element),
      "dateField": .string(dateField), "words": words.json,
    ]
    object["recordId"] = recordID.map(JSONValue.string)
    return .object(object)
  }

  /// Parses the JSON form; `mask` is that of the pipeline's reports.
  init(_ reader: MemberReader, mask: ReportMask) throws(SnapshotError) {
    guard let element = try reader.member("element").json.object else {
      throw reader.wrong("element")
    }
    guard let words = CarriedWords(json: try reader.member("words").json, mask: mask) else {
      throw reader.wrong("words")
    }
    self.init(
      edit: try reader.long("edit"), source: try reader.text("source"),
      platform: try reader.text("platform"),
      soup: SoupKey(
        store: StoreKey(text: try reader.text("store")), soup: try reader.text("soup")),
      idField: try reader.text("idField"), recordID: try reader.optionalText("recordId"),
      lastModified: try reader.long("lastModified"), edited: try reader.texts("edited"),
      element: element, dateField: try reader.text("dateField"), words: words)
  }
}
