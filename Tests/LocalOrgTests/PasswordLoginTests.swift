import HTTP
import Testing

@Suite struct PasswordLoginTests {
  private func served() throws -> ServedOrg {
    try ServedOrg {
      $0.password = "wörd & token"
      $0.clients["app"] = .init(secret: "s", username: "ada@example.com")
    }
  }

  private func soap(_ served: ServedOrg, _ username: String, _ password: String) async throws
    -> HTTPResponse
  {
    var request = HTTPRequest("POST", served.server.url + "/services/Soap/u/59.0")
    request.headers["Content-Type"] = "text/xml"
    request.headers["SOAPAction"] = "login"
    request.body = Array(
      """
      <?xml version="1.0" encoding="utf-8" ?><e:Envelope xmlns:e="x"><e:Header><n:client>c</n:client>
      </e:Header><e:Body><n:login xmlns:n="urn"><n:username>\(username)</n:username>
      <n:password>\(password)</n:password></n:login></e:Body></e:Envelope>
      """.utf8)
    return try await served.client.send(request)
  }

  @Test func `SOAP returns a session for the right password`() async throws {
    let served = try served()
    let answer = try await soap(served, "ada@example.com", "wörd &amp; token")
    #expect(answer.status == 200)
    let token = try #require(answer.text.element("sessionId"))
    #expect(answer.text.element("serverUrl")?.hasPrefix(served.server.url) == true)
    #expect(try await served.send("GET", "/limits", token: token).status == 200)
    for (user, password) in [
      ("ada@example.com", "wörd"), ("nobody@example.com", "wörd &amp; token"),
    ] {
      let refused = try await soap(served, user, password)
      #expect(refused.status == 500)
      #expect(refused.text.element("sf:exceptionCode") == "INVALID_LOGIN")
    }
    try served.org.setActive("ada@example.com", false)
    #expect(try await soap(served, "ada@example.com", "wörd &amp; token").status == 500)
  }

  @Test func `the password grant requires an app's secret too`() async throws {
    let served = try served()
    func login(_ secret: String, _ password: String) async throws -> HTTPResponse {
      try await served.login([
        ("grant_type", "password"), ("client_id", "app"), ("client_secret", secret),
        ("username", "ada@example.com"), ("password", password),
      ])
    }
    let answer = try await login("s", "wörd & token")
    #expect(answer.status == 200)
    let token = try #require(answer.json["access_token"]?.string)
    #expect(try await served.send("GET", "/limits", token: token).status == 200)
    #expect(try await login("x", "wörd & token").json["error"] == "invalid_client")
    #expect(try await login("s", "wörd").json["error"] == "invalid_grant")
  }

  @Test func `without a password no password login is possible`() async throws {
    let served = try ServedOrg()
    #expect(try await soap(served, "ada@example.com", "").status == 500)
    #expect(try await soap(served, "ada@example.com", "x").status == 500)
  }
}
