import HTTP
import Salesforce
import Testing

@Suite struct APIBudgetTests {
  @Test(arguments: [
    ("api-usage=18/15000", 18, 15000),
    ("api-usage=18/15000; per-app-api-usage=17/250(appName=x)", 18, 15000),
  ])
  func `the org's request count is parsed`(header: String, used: Int, maximum: Int) {
    let usage = APIUsage(header: header)
    #expect(usage?.used == used)
    #expect(usage?.maximum == maximum)
  }

  @Test(arguments: ["", "api-usage=", "api-usage=1", "api-usage=a/b", "api-usage=1/0"])
  func `an invalid count is ignored`(header: String) { #expect(APIUsage(header: header) == nil) }

  @Test func `the share of other users is not used`() {
    let budget = APIBudget(leaveForOthersPercent: 10)
    #expect(budget.refusal(made: 5, usage: nil) == nil)
    #expect(budget.refusal(made: 5, usage: APIUsage(header: "api-usage=899/1000")) == nil)
    #expect(budget.refusal(made: 5, usage: APIUsage(header: "api-usage=900/1000")) != nil)
    // For an odd maximum, the share is not rounded to hundreds.
    #expect(budget.refusal(made: 5, usage: APIUsage(header: "api-usage=134/150")) == nil)
    #expect(budget.refusal(made: 5, usage: APIUsage(header: "api-usage=135/150")) != nil)
    #expect(APIBudget(perRun: 5).refusal(made: 4, usage: nil) == nil)
    #expect(APIBudget(perRun: 5).refusal(made: 5, usage: nil) != nil)
    #expect(APIBudget(perRun: 5).code(made: 4) == APIBudget.code)
    #expect(APIBudget().code(made: 5) == APIBudget.code)
  }

  @Test func `the rest is the smaller of the run's limit and the org's`() {
    let usage = APIUsage(header: "api-usage=880/1000")
    #expect(APIBudget().left(made: 3, usage: nil) == nil)
    #expect(APIBudget().left(made: 3, usage: usage) == 20)
    #expect(APIBudget(perRun: 10).left(made: 3, usage: usage) == 7)
    #expect(APIBudget(perRun: 2).left(made: 3, usage: usage) == 0)
    #expect(APIBudget().left(made: 3, usage: APIUsage(header: "api-usage=950/1000")) == 0)
  }

  @Test func `no request is sent beyond the budget`() async throws {
    let scripted = try ScriptedOrg { $0.path.hasSuffix("/limits") ? .json(200, "{}") : nil }
    let org = try scripted.org(budget: APIBudget(perRun: 4))
    let session = try await org.session()
    // The user info request of the login was the first one.
    for _ in 0..<3 { _ = try await session.limits() }
    let error = await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(error?.kind == .limit && error?.code == APIBudget.runCode)
    #expect(scripted.log.count == 3)
    #expect(
      org.requestsMade.map { "\($0.kind) \($0.identity) \($0.count)" }
        == ["token  1", "userInfo  1", "versions  1", "limits ada@example.com 3"])
  }

  @Test func `an org near its limit gets no further requests`() async throws {
    let used = Kept(88)
    let scripted = try ScriptedOrg { request in
      guard request.path.hasSuffix("/limits") else { return nil }
      let count = used.change {
        $0 += 1
        return $0
      }
      var response = ServerResponse.json(200, "{}")
      response.headers["Sforce-Limit-Info"] = "api-usage=\(count)/100"
      return response
    }
    let session = try await scripted.session()
    _ = try await session.limits()
    _ = try await session.limits()
    let error = await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(error?.kind == .limit)
    #expect(error?.message.contains("90 of 100") == true)
    #expect(scripted.log.count == 2)
  }
}
