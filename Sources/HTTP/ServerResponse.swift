/// What a server answers, faults included.
package struct ServerResponse: Sendable {
  /// A failure to inject into the sending of an answer.
  package enum Fault: Sendable {
    /// The connection ends and no byte of the answer is sent.
    case dropBeforeHead
    /// The head is sent, the connection ends before the body.
    case dropBeforeBody
    /// The connection ends after so many bytes of the body.
    case dropAfter(bytes: Int)
    /// The answer is held back; the connection has its own thread, so nobody else waits.
    case delay(milliseconds: Int)
    /// The body stops after so many bytes until `until` returns.
    case pause(afterBytes: Int, until: @Sendable () -> Void)
  }

  /// The status code.
  package var status: Int
  /// The fields to send beside the server's own.
  package var headers: HTTPHeaders
  /// The body.
  package var body: [UInt8]
  /// The pieces of a body whose length is not known at the start, in place of `body`: nil is its
  /// end, and an error breaks the answer off.
  ///
  /// It is called on the connection's thread, each time when what it gave last is on its way.
  package var stream: (@Sendable () throws -> [UInt8]?)?
  /// A failure to inject, nil for none.
  package var fault: Fault?

  /// An answer of its parts.
  package init(
    status: Int, headers: HTTPHeaders = [:], body: [UInt8] = [], fault: Fault? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.fault = fault
  }

  /// An answer of JSON text.
  package static func json(_ status: Int, _ text: String) -> ServerResponse {
    ServerResponse(
      status: status, headers: ["Content-Type": "application/json;charset=UTF-8"],
      body: Array(text.utf8))
  }
}
