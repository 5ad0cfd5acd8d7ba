/// A server's response, with an optional fault.
package struct ServerResponse: Sendable {
  /// A failure to inject while a response is sent.
  package enum Fault: Sendable {
    /// Closes the connection before any byte of the response is sent.
    case dropBeforeHead
    /// Closes the connection after the head, before the body.
    case dropBeforeBody
    /// Closes the connection after this number of body bytes.
    case dropAfter(bytes: Int)
    /// Delays the response. Other connections have their own threads and are not delayed.
    case delay(milliseconds: Int)
    /// Stops the body after this number of bytes until `until` returns.
    case pause(afterBytes: Int, until: @Sendable () -> Void)
  }

  package var status: Int
  /// The fields to send in addition to the server's.
  package var headers: HTTPHeaders
  package var body: [UInt8]
  /// Supplies the pieces of a body of unknown length, instead of `body`: nil ends the body, and an
  /// error aborts the response.
  ///
  /// It is called on the connection's thread whenever the previous piece is being sent.
  package var stream: (@Sendable () throws -> [UInt8]?)?
  /// The failure to inject; nil for none.
  package var fault: Fault?

  package init(
    status: Int, headers: HTTPHeaders = [:], body: [UInt8] = [], fault: Fault? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.fault = fault
  }

  /// Returns a response with JSON text.
  package static func json(_ status: Int, _ text: String) -> ServerResponse {
    ServerResponse(
      status: status, headers: ["Content-Type": "application/json;charset=UTF-8"],
      body: Array(text.utf8))
  }
}
