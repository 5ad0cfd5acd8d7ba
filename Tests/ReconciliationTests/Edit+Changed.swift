import JSON
import Ledger
import Testing

extension Edit {
  /// The edit with other values in some members of its element, saved some milliseconds later.
  func changed(_ fields: JSONObject, later: Int64 = 5) throws -> Edit {
    var edit = self
    var element = try #require(try JSONValue(parsing: edit.element).object)
    for (name, value) in fields { element[name] = value }
    edit.element = JSONValue.object(element).bytes
    edit.lastModified += later
    return edit
  }

  /// The clean row that its device has of it later, with the row's record.
  func clean(at date: Int64? = nil, as id: String) -> CleanRow {
    CleanRow(row: row, created: created, lastModified: date ?? lastModified + 1, serverID: id)
  }
}
