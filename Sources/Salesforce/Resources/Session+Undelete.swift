import HTTP
import JSON
import System
import XML

/// Undelete, which only the SOAP API offers.
extension Session {
  /// Restores records from the recycle bin, each with the details that were deleted with it.
  ///
  /// Returns one answer per record, in order (SOAP API Developer Guide, "undelete()").
  ///
  /// A record that is not in the recycle bin, or was already restored, is `absent`.
  package func undelete(_ ids: [String]) async throws(OrgError) -> [RowAnswer] {
    guard !ids.isEmpty else { return [] }
    var call = OrgCall(
      .undelete, "POST", "/services/Soap/u/\(apiVersion)",
      headers: [
        "SOAPAction": "\"\"", "Content-Type": "text/xml; charset=UTF-8", "Accept": "text/xml",
      ])
    guard ids.count <= RequestLimits.undelete else {
      throw OrgError(
        .configuration,
        message: "\(ids.count) records exceed the limit of \(RequestLimits.undelete)",
        request: call.name)
    }
    call.expected = nil
    call.envelope = { token in Self.envelope(token, ids) }
    let response = try await sendEnvelope(call)
    let results = XMLElement(parsing: response.body).flatMap(Self.results) ?? []
    guard results.count == ids.count else {
      throw Self.invalidResponse(
        "\(CountText.of(ids.count, "record", "has", "have")) "
          + CountText.of(results.count, "result"), call)
    }
    return zip(ids, results).map { id, result in
      let answer = RowAnswer(result, recordID: id)
      if case .refused(let refusal) = answer, refusal.code == Self.notInBin {
        return .absent(refusal)
      }
      return answer
    }
  }

  /// Sends a call that names its session in its body.
  ///
  /// A connected app may have sessions that the data resources accept and SOAP does not. A new
  /// login does not help.
  private func sendEnvelope(_ call: OrgCall) async throws(OrgError) -> HTTPResponse {
    do {
      return try await send(call)
    } catch {
      guard error.kind == .authentication else { throw error }
      _ = try await userInfo()
      throw OrgError(
        .permission, status: error.status, code: error.code,
        message: "SOAP does not accept the session: \(error.message)", request: call.name)
    }
  }

  /// The code for a record that is not in the recycle bin (SOAP API Developer Guide, "StatusCode").
  private static let notInBin = "UNDELETE_FAILED"

  private static func envelope(_ token: String, _ ids: [String]) -> [UInt8] {
    let list = ids.map { "<ids>\(escaped($0))</ids>" }.joined()
    return Array(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:partner.soap.sforce.com">\
      <e:Header><SessionHeader><sessionId>\(escaped(token))</sessionId></SessionHeader></e:Header>\
      <e:Body><undelete>\(list)</undelete></e:Body></e:Envelope>
      """.utf8)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// The results in a response; nil if it is another one.
  private static func results(_ root: XMLElement) -> [SaveResult]? {
    guard root.name == "Envelope", let answer = root.child("Body")?.child("undeleteResponse") else {
      return nil
    }
    return answer.children.filter { $0.name == "result" }.compactMap { result in
      let success: Bool? =
        switch result.child("success")?.text {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
      guard let success else { return nil }
      let errors = result.children.filter { $0.name == "errors" }.map { error -> JSONValue in
        [
          "statusCode": .string(error.child("statusCode")?.text ?? ""),
          "message": .string(error.child("message")?.text ?? ""),
          "fields": JSONValue(error.children.filter { $0.name == "fields" }.map(\.text)),
        ]
      }
      return SaveResult(
        [
          "id": result.child("id").map { .string($0.text) } ?? .null, "success": .bool(success),
          "errors": .array(errors),
        ])
    }
  }
}
