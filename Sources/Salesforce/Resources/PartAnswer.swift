import HTTP
import JSON
import System

/// The response to one request inside a composite request, as the org's bytes.
package struct PartAnswer: Sendable {
  /// The name of the request.
  package let name: String
  package let status: Int
  /// The body; an array of errors if the request failed.
  package let body: [UInt8]

  private static let scanner = RecordScanner(paths: ["referenceId", "httpStatusCode", "body"])

  package var isSuccess: Bool { HTTPStatus.success.contains(status) }

  /// The responses in a composite response, in the order of its requests; throws unless each
  /// request has exactly one.
  static func all(
    in answer: [UInt8], to requests: [CompositeRequest], _ call: OrgCall
  ) throws(OrgError) -> [PartAnswer] {
    try Session.inOrder(all(in: answer, call), of: requests, to: call, \.name)
  }

  private static func all(in answer: [UInt8], _ call: OrgCall) throws(OrgError) -> [PartAnswer] {
    do {
      return try answer.withUnsafeBytes { page in
        var parts: [PartAnswer] = []
        _ = try scanner.scan(page, in: .member("compositeResponse")) { _, _, fields in
          parts.append(
            PartAnswer(
              name: fields[0].text(in: page) ?? "",
              status: fields[1].number(in: page).flatMap { Int($0) } ?? 0,
              body: Array(page[fields[2].range])))
        }
        return parts
      }
    } catch {
      throw OrgError(
        .invalidResponse, message: "the response is not that of a composite request: \(error)",
        request: call.name, isAmbiguous: !call.isRead)
    }
  }

  /// The error of a request that failed; `message` is used if the org sent none.
  func error(request: String, _ message: String) -> OrgError {
    let fault = OrgFault(body)
    return OrgError(
      RetryPolicy().kind(status: status, code: fault.code), status: status, code: fault.code,
      message: fault.message ?? message, request: request)
  }
}

extension Session {
  /// Sends several reads as one request, and returns the response to each, in order.
  ///
  /// A failure is not repeated, because the caller can send fewer of the reads, or each separately.
  /// Expected descriptions are requested in the same call, after the reads.
  package func parts(_ requests: [CompositeRequest]) async throws(OrgError) -> [PartAnswer] {
    let described = expectedDescriptions(RequestLimits.composite - requests.count)
    var call = try compositeCall(requests + described)
    call.mostRetries = 0
    let body: [UInt8]
    do throws(OrgError) {
      body = try await send(call).body
    } catch {
      expectDescriptions(of: described.map(\.referenceId))
      throw error
    }
    let parts = try PartAnswer.all(in: body, to: requests + described, call)
    // An object that is not described here is requested again, and that error is reported.
    for part in parts.dropFirst(requests.count) { try? keepDescription(part) }
    return Array(parts.prefix(requests.count))
  }
}
