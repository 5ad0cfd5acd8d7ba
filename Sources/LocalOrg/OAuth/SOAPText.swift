import HTTP

/// The responses of the SOAP API.
enum SOAPText {
  /// A result, or another body.
  static func answer(_ body: String, header: String = "", status: Int = 200) -> ServerResponse {
    let head = header.isEmpty ? "" : "<soapenv:Header>\(header)</soapenv:Header>"
    let text = """
      \(XMLText.head)<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" \
      xmlns="urn:partner.soap.sforce.com" xmlns:sf="urn:fault.partner.soap.sforce.com" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\(head)<soapenv:Body>\(body)</soapenv:Body>\
      </soapenv:Envelope>
      """
    return ServerResponse(
      status: status, headers: ["Content-Type": "text/xml; charset=utf-8"], body: Array(text.utf8))
  }

  /// A fault of the org, always with status 500.
  static func fault(
    _ code: String, _ message: String, type: String = "UnexpectedErrorFault"
  ) -> ServerResponse {
    let words = XMLText.escaped(message)
    return answer(
      """
      <soapenv:Fault><faultcode>sf:\(code)</faultcode><faultstring>\(code): \(words)</faultstring>\
      <detail><sf:\(type) xsi:type="sf:\(type)"><sf:exceptionCode>\(code)</sf:exceptionCode>\
      <sf:exceptionMessage>\(words)</sf:exceptionMessage></sf:\(type)></detail></soapenv:Fault>
      """, status: 500)
  }

  /// A fault of the client: the request is not a call of the service.
  static func clientFault(_ message: String) -> ServerResponse {
    answer(
      """
      <soapenv:Fault><faultcode>soapenv:Client</faultcode>\
      <faultstring>\(XMLText.escaped(message))</faultstring></soapenv:Fault>
      """, status: 500)
  }
}
