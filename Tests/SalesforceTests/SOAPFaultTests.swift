import Salesforce
import Testing

@Suite struct SOAPFaultTests {
  @Test(arguments: [
    ("sf:INVALID_SESSION_ID", "INVALID_SESSION_ID: gone", "INVALID_SESSION_ID", "gone", 401),
    ("sf:REQUEST_LIMIT_EXCEEDED", "no more", "REQUEST_LIMIT_EXCEEDED", "no more", 403),
    ("API_DISABLED_FOR_ORG", "off", "API_DISABLED_FOR_ORG", "off", 403),
    ("soapenv:Client", "what?", "Client", "what?", 400),
    ("sf:SERVER_UNAVAILABLE", "busy", "SERVER_UNAVAILABLE", "busy", 503),
    ("sf:UNKNOWN_EXCEPTION", "oh", "UNKNOWN_EXCEPTION", "oh", 500),
    ("soapenv:Server", "", "Server", "", 500),
    ("sf:EXCEEDED_ID_LIMIT", "many", "EXCEEDED_ID_LIMIT", "many", 400),
  ])
  func `a fault has the meaning of a data resource's status`(
    _ code: String, _ words: String, _ name: String, _ message: String, _ status: Int
  ) throws {
    let fault = try #require(SOAPFault(Self.fault(code, words)))
    #expect((fault.code, fault.message, fault.status) == (name, message, status))
  }

  static func fault(_ code: String, _ words: String) -> [UInt8] {
    Array(
      """
      <?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope \
      xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><soapenv:Fault>\
      <faultcode>\(code)</faultcode><faultstring>\(words)</faultstring></soapenv:Fault></soapenv:Body>\
      </soapenv:Envelope>
      """.utf8)
  }
}
