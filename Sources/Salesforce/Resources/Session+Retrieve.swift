import HTTP
import JSON
import System

extension Session {

  /// The records with the given IDs, in order, as the org's bytes: an array with `null` for records
  /// that are deleted, hidden or unknown.
  package func retrieve(
    _ sObject: String, ids: [String], fields: [String]
  ) async throws(OrgError) -> [UInt8] {
    // A read although it is a POST: a GET has room for a third of the IDs.
    var call = OrgCall(
      .retrieve, "POST", path("composite/sobjects/\(HTTPQuery.encode(sObject))"), isRead: true)
    guard ids.count <= RequestLimits.retrieve else {
      throw Self.invalidResponse(
        "\(ids.count) IDs exceed the limit of \(RequestLimits.retrieve)", call)
    }
    call.body = Self.retrieveBody(ids, fields)
    let body = try await send(call).body
    guard Self.isArray(body) else {
      throw Self.invalidResponse("the response is not an array of records", call)
    }
    return body
  }

  /// The retrieval of records as a part of a composite request.
  package func retrieveRequest(
    _ sObject: String, ids: [String], fields: [String], referenceId: String
  ) -> CompositeRequest {
    CompositeRequest(
      method: "POST", url: path("composite/sobjects/\(HTTPQuery.encode(sObject))"),
      referenceId: referenceId, body: Self.retrieveBody(ids, fields), isRead: true)
  }

  /// Whether a response has the form of retrieved records.
  package static func isArray(_ body: [UInt8]) -> Bool {
    firstByte(body) == UInt8(ascii: "[") && lastByte(body) == UInt8(ascii: "]")
  }

  private static func retrieveBody(_ ids: [String], _ fields: [String]) -> [UInt8] {
    var writer = JSONWriter(reserving: ids.count * 21 + 1000)
    writer.beginObject()
    writer.name("ids")
    writer.beginArray()
    for id in ids { writer.string(id) }
    writer.endArray()
    writer.name("fields")
    writer.beginArray()
    for field in fields { writer.string(field) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// The records with the given IDs in one or more responses, depending on their size, each with
  /// its IDs in order.
  ///
  /// A response that is too large is requested again in halves.
  package func retrieveParts(
    _ sObject: String, ids: [String], fields: [String]
  ) async throws(OrgError) -> [(ids: [String], bytes: [UInt8])] {
    do {
      return [(ids, try await retrieve(sObject, ids: ids, fields: fields))]
    } catch {
      guard error.kind == .tooLarge, let first = ids.first else { throw error }
      guard ids.count > 1 else { throw error.of(record: first) }
      let middle = ids.count / 2
      let head = try await retrieveParts(sObject, ids: Array(ids[..<middle]), fields: fields)
      return try await head
        + retrieveParts(sObject, ids: Array(ids[middle...]), fields: fields)
    }
  }

  /// The records with any number of IDs, by their 18-character IDs.
  ///
  /// Records that cannot be read are missing.
  ///
  /// A text that is not a record ID is not sent, as an org may reject the whole request for it.
  package func records(
    _ sObject: String, ids: [String], fields: [String]
  ) async throws(OrgError) -> [String: JSONObject] {
    var found: [String: JSONObject] = [:]
    for part in ids.filter({ RecordID($0) != nil }).parts(of: RequestLimits.retrieve) {
      var records: [JSONValue] = []
      for answer in try await retrieveParts(sObject, ids: part, fields: fields) {
        guard let array = (try? JSONValue(parsing: answer.bytes))?.array else {
          throw OrgError(
            .invalidResponse, message: "the retrieved records are not JSON",
            request: "retrieve \(sObject)")
        }
        records += array
      }
      for record in records {
        guard let object = record.object, let id = object["Id"]?.string?.recordID18
        else { continue }
        found[id] = object
      }
    }
    return found
  }

  static func firstByte(_ body: [UInt8]) -> UInt8? { body.first { $0 > 0x20 } }
  static func lastByte(_ body: [UInt8]) -> UInt8? { body.last { $0 > 0x20 } }
}
