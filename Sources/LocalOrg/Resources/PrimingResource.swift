import JSON
import System

/// `GET /connect/briefcase/priming-records`: the contents of the user's briefcases for this app.
enum PrimingResource {
  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let token = call.target.query("relayToken").flatMap { $0.isEmpty ? nil : $0 }
    var after: Int64?
    if let text = call.target.query("changedAfterTimestamp") {
      guard let time = Dates.milliseconds(iso8601: text) else {
        throw OrgError(
          code: "ILLEGAL_QUERY_PARAMETER_VALUE",
          message: "changedAfterTimestamp is not a date and time")
      }
      after = time
    }
    if token != nil, after != nil, call.server.options.isStrict {
      throw OrgError(
        code: "ILLEGAL_QUERY_PARAMETER_VALUE",
        message: "relayToken and changedAfterTimestamp exclude each other")
    }
    // From the second page on, a mobile client sends both; the token includes the date of the first
    // page.
    let page = try call.org.primingRecords(
      as: call.user, app: call.session.clientID, changedAfter: token == nil ? after : nil,
      relayToken: token,
      pageSize: min(call.server.options.primingPageSize, call.faults.pageLimit ?? .max))
    return answer(page, call.faults)
  }

  private static func answer(_ page: PrimingPage, _ faults: FaultPlan) -> APIResponse {
    let injected = faults.ruleErrors
    let hidden = Set(injected.compactMap(\.object))
    let entries = page.entries.filter { !hidden.contains($0.object) }
    var writer = JSONWriter(reserving: entries.count * 72 + 400)
    writer.beginObject()
    writer.name("primingRecords")
    writeGroups(entries, &writer)
    writer.name("relayToken")
    if let token = page.relayToken { writer.string(token) } else { writer.null() }
    writer.name("ruleErrors")
    writer.value(
      .array(
        (page.ruleErrors + injected.map(\.ruleID)).map { ["ruleId": .string($0)] }))
    writer.name("stats")
    writer.value([
      "ruleCountTotal": JSONValue(page.ruleCountTotal),
      "recordCountTotal": JSONValue(page.recordCountTotal),
      "ruleCountServed": JSONValue(page.ruleCountServed),
      "recordCountServed": JSONValue(entries.count),
    ])
    writer.endObject()
    return APIResponse(body: writer.bytes, records: entries.count, ids: entries.count)
  }

  /// Writes the entries by object, then by record type, each in the order of its first entry.
  private static func writeGroups(_ entries: [PrimingPage.Entry], _ writer: inout JSONWriter) {
    var objects: [String] = []
    var types: [String: [String]] = [:]
    var groups: [String: [PrimingPage.Entry]] = [:]
    for entry in entries {
      let key = entry.object + "/" + entry.recordTypeID
      if types[entry.object] == nil { objects.append(entry.object) }
      if groups[key] == nil { types[entry.object, default: []].append(entry.recordTypeID) }
      groups[key, default: []].append(entry)
    }
    writer.beginObject()
    for object in objects {
      writer.name(object)
      writer.beginObject()
      for type in types[object] ?? [] {
        writer.name(type)
        writer.beginArray()
        for entry in groups[object + "/" + type] ?? [] {
          writer.beginObject()
          writer.name("id")
          writer.string(entry.id)
          writer.name("systemModstamp")
          writer.string(entry.systemModstamp)
          writer.endObject()
        }
        writer.endArray()
      }
      writer.endObject()
    }
    writer.endObject()
  }
}
